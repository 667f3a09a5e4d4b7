/** The course of every kill test: a row says what is started, when it is killed and what must hold afterwards. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer, Requester } from '../../support/request.ts'
import type { Trap, TrappingProxy } from '../trapping-proxy.ts'

/** SOAK_SEED=n kills at other moments. */
export const seedOr = (usual: number): number => Number(process.env.SOAK_SEED || usual)

/** One moment in each of `count` equal parts of [0, 1): a few kills meet the whole of what is killed. */
export const momentsOf = (count: number, random: () => number): number[] =>
  Array.from({ length: count }, (_, n) => (n + random()) / count)

interface KillTest<World, Point> {
  title: string
  /** What it needs is missing here. */
  skip?: boolean
  /** What is started before the first kill. */
  start(): Promise<World>
  /** When it is killed: each point is one kill. */
  points(world: World): Iterable<Point>
  /** Kills it at the point, starts it again, and asks again for what was cut off. */
  kill(world: World, point: Point): Promise<unknown>
  /** Brings what was left to its end. */
  settle?(world: World): Promise<unknown>
  /** What must hold afterwards, by title, in this order. */
  holds: Record<string, (world: World) => unknown>
  end(world: World): Promise<unknown>
}

export function killTest<World, Point>(row: KillTest<World, Point>): void {
  describe.skipIf(row.skip)(row.title, () => {
    let world: World | undefined
    beforeAll(async () => {
      world = await row.start()
      for (const point of row.points(world)) await row.kill(world, point)
      await row.settle?.(world)
    }, 600_000)
    afterAll(async () => {
      if (world !== undefined) await row.end(world)
    })
    it.each(Object.entries(row.holds))('%s', async (_, look) => void (await look(world!)))
  })
}

/** A call that the process makes, or so many milliseconds. */
export type Point = Trap | number

/** Waits for the point and kills the process, which may have ended by itself; a trap that nothing walks into is missed. */
export async function killAt(
  child: ChildProcess,
  point: Point,
  proxy: Pick<TrappingProxy, 'arm' | 'disarm'>,
  patienceMs: number,
): Promise<{ wasRunning: boolean; missed: boolean }> {
  const gone = goneOf(child)
  const strike = () => void child.kill('SIGKILL')
  let struck = false
  if (typeof point !== 'number') {
    proxy.arm(point, () => {
      struck = true
      strike()
    })
  }
  await Promise.race([delay(typeof point === 'number' ? point : patienceMs, undefined, { ref: false }), gone])
  const missed = typeof point !== 'number' && !struck
  proxy.disarm()
  strike()
  await gone
  return { wasRunning: child.exitCode === null, missed }
}

/** Resolves when the process has ended. */
export const goneOf = (child: ChildProcess): Promise<void> =>
  new Promise((settle) => {
    if (child.exitCode !== null || child.signalCode !== null) settle()
    else child.once('exit', () => settle())
  })

export interface Requests<Item> {
  send(item: Item): Promise<Answer>
  /** Judges an answer, of a first request and of one that was asked again. */
  check(item: Item, answer: Answer): void
  /** Is never asked for again once it was cut off. */
  isGivenUp?(item: Item): boolean
}

/** Requests to something that is killed: which were answered, which were cut off, and what came of those. */
export function requestsOf<Item>({ send, check, isGivenUp = () => false }: Requests<Item>) {
  const open = new Set<Item>()
  const done = new Map<Item, Answer>()
  const abandoned: Item[] = []
  const again = { resumed: 0, replayed: 0 }
  const settle = (item: Item, answer: Answer) => {
    check(item, answer)
    open.delete(item)
    done.set(item, answer)
  }
  return {
    open,
    done,
    abandoned,
    again,
    /** False when it was cut off. */
    async ask(item: Item): Promise<boolean> {
      open.add(item)
      const answer = await send(item).catch((error: Error) => {
        if (error.name === 'AssertionError') throw error
        return null
      })
      if (answer !== null) settle(item, answer)
      return answer !== null
    },
    async askAgain(): Promise<void> {
      for (const item of [...open]) {
        if (isGivenUp(item)) {
          open.delete(item)
          abandoned.push(item)
          continue
        }
        const answer = await send(item)
        again[answer.headers.get('idempotent-replayed') === 'true' ? 'replayed' : 'resumed']++
        settle(item, answer)
      }
    },
  }
}

/** Every row of a list; `path` ends with `?` or `&`. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into rows and assert what they find
export async function allPages(request: Requester, path: string): Promise<any[]> {
  const found = []
  for (let cursor = ''; ; ) {
    const { json, text } = await request('GET', `${path}limit=100${cursor}`)
    expect(json.data, text).toBeDefined()
    found.push(...json.data)
    if (!json.meta.next_cursor) return found
    cursor = `&cursor=${json.meta.next_cursor}`
  }
}
