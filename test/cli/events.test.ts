import { describe, expect, it, onTestFinished } from 'vitest'
import { type EventPosition, eventPosition, followEvents } from '../../commands/events/follow.ts'
import { type Client, createClient } from '../../src/client.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { freePort } from '../support/ports.ts'
import { inSoak, runs } from '../support/runs.ts'
import { ORIGIN, START, startService } from '../support/service.ts'
import { commandLine } from './command-line.ts'
import { makeEvents, started, upTo } from './following.ts'
import { serveHere } from './served.ts'

const cli = commandLine()
const sequences = (lines: string[]) => lines.map((line) => JSON.parse(line).sequence as number)

describe('svc events verify', () => {
  it('finds nothing missing in an empty database, and names the flag that it needs', async () => {
    const verified = await cli.svc(['events', 'verify', '--since', '0', '-o', 'table'])
    expect([verified.exitCode, verified.stdout.trim()]).toEqual([
      0,
      'Compared 0 accounts, 0 transactions and 0 events: nothing is missing, and nothing is extra.',
    ])
    await cli.refused(['events', 'verify'], '--since')
  })

  it('repairs nothing in an empty database, as its sibling for the ledger', async () => {
    const events = await cli.svc(['events', 'verify', '--since', '0', '--repair', '--json'])
    expect([events.exitCode, JSON.parse(events.stdout)]).toMatchObject([0, { repaired: [], missing: [], extra: [] }])
    const ledger = await cli.svc(['ledger', 'verify', '--repair', '--json'])
    expect([ledger.exitCode, JSON.parse(ledger.stdout)]).toMatchObject([0, { repaired: [], faults: [] }])
  })
})

describe('svc events watch', () => {
  it('follows the database itself without a daemon', async () => {
    const tail = started(cli, ['events', 'watch', '--json'])
    await tail.says('after sequence 0')
    const daemon = await serveHere(cli.dataDir)
    onTestFinished(() => daemon.stop())
    await makeEvents(daemon, 0, 2)
    await tail.hasLines(2)
    expect(await tail.stopped('SIGINT')).toBe(130)
    expect(sequences(tail.lines())).toEqual([1, 2])
  })

  it('ends at once if nobody answers or the API refuses', async () => {
    await cli.refused(['events', 'watch', '--api', `http://127.0.0.1:${await freePort()}`], 'cannot be reached', 1)
    await cli.refused(['events', 'watch', '--type', 'pool.sunk'], 'type')
    const near = await cli.refused(['events', 'list', '--type', 'pool.lives', '-o', 'table'], 'did you mean pool.live?')
    expect(near).toContain('--type: is not one of its 31 values (GET /v2/webhook-event-types, `svc events types`)')
    expect(near.length).toBeLessThan(200)
  })
})

describe('A follower of events', () => {
  const later = (n: number) => n * 1_000

  /** The API in this process over so many events; `age` tells when one was written, `faults` come before answers. */
  async function source(count: number, age: (n: number) => number = later) {
    const { app, operator, services } = await startService()
    const asked: URLSearchParams[] = []
    const faults: Error[] = []
    const client = createClient(async ({ method, path, headers }) => {
      const fault = faults.shift()
      if (fault !== undefined) throw fault
      asked.push(new URL(path, ORIGIN).searchParams)
      const answer = await app.fetch(new Request(`${ORIGIN}${path}`, { method, headers }))
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
    }, operator)
    let stored = 0
    const add = (more: number) =>
      services.store.write((tx) =>
        appendEvents(
          tx,
          Array.from({ length: more }, () => {
            const n = ++stored
            return {
              id: `evt_${n}`,
              type: 'pool.live' as const,
              resource_type: 'pool',
              resource_id: 'a',
              object_json: '{}',
              external_uid: null,
              metadata_json: null,
              dedupe_key: String(n),
              created_at: START + age(n),
            }
          }),
        ),
      )
    if (count > 0) await add(count)
    return { asked, faults, client, add }
  }

  /** Until `count` events came; pauses take no time but call `onPause`. */
  async function run(
    client: Client,
    place: EventPosition,
    count: number,
    onPause: (ms: number) => unknown = () => undefined,
  ) {
    const said: string[] = []
    const ui = { note: (text: string) => said.push(text), warn: (text: string) => said.push(text) }
    const clock = { now: () => 0, sleep: async (ms: number) => void (await onPause(ms)) }
    const got: number[] = []
    for await (const { event } of followEvents({ client, clock, ui } as never, {}, place)) {
      got.push(event.sequence)
      if (got.length === count) break
    }
    return { got, said }
  }

  const down = () => new ApiError('internal_error', 'nothing listens there')
  const torn = () => new ApiError('bad_request', 'cursor is damaged', { param: 'cursor' })

  const STORED = inSoak ? [0, 1, 2, 99, 100, 101, 250] : [0, 101]
  it.each(STORED)('reads new events after %i stored ones', { tags: 'sampled' }, async (stored) => {
    const { client, add } = await source(stored)
    const { got, said } = await run(client, { sequence: 0 }, stored + 60, () => add(3))
    expect(got).toEqual(upTo(stored + 60))
    expect(said).toEqual([])
  })

  it('reads only one known event while nothing is new', async () => {
    const { client, asked } = await source(230)
    let read = 0
    const counting = {
      events: {
        async list(query: never) {
          const answer = await client.events.list(query)
          read = answer.data.length
          return answer
        },
      },
    }
    let pauses = 0
    const enough = new Error('enough')
    const onPause = () => {
      if (++pauses > 5) throw enough
    }
    await expect(run(counting as unknown as Client, { sequence: 0 }, 231, onPause)).rejects.toBe(enough)
    expect(read).toBe(1)
    expect(new Set(asked.slice(-4).map((query) => query.get('cursor'))).size).toBe(1)
  })

  const AGES: [string, (n: number) => number][] = [
    ['increasing', later],
    ['set back once', (n) => later(n > 450 ? n - 400 : n)],
    ['all equal', () => 0],
  ]
  it.each(AGES.slice(0, runs(2, 3)))(
    'finds any position with timestamps that are %s',
    { tags: 'sampled' },
    async (_, age) => {
      const { client, asked, add } = await source(900, age)
      for (const wanted of [0, 1, 450, 899, 900]) {
        const place = await eventPosition(client, {}, wanted)
        const { got } = await run(client, place, 5, () => add(5))
        expect(got).toEqual(upTo(wanted + 5, wanted + 1))
      }
      if (age !== later) return
      const before = asked.length
      expect((await eventPosition(client, {}, 'now')).sequence).toBeGreaterThanOrEqual(905)
      expect(asked.length - before).toBeLessThan(5)
    },
  )

  it('waits longer and longer for a failing API, and says so once', async () => {
    const { client, faults, add } = await source(5)
    const pauses: number[] = []
    const { got, said } = await run(client, { sequence: 0 }, 6, async (ms) => {
      pauses.push(ms)
      if (pauses.length > 1) return
      faults.push(...Array.from({ length: 6 }, down), new ApiError('rate_limited', 'too many'))
      await add(1)
    })
    expect(got).toEqual(upTo(6))
    expect(pauses).toEqual([1_000, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    expect(said).toEqual([
      'nothing listens there; trying again until it answers',
      'The API answers again; nothing was missed.',
    ])
  })

  it('starts over if its cursor is refused, and gives up if waiting cannot help', async () => {
    const { client, asked, faults } = await source(5)
    faults.push(torn())
    expect((await run(client, { sequence: 3, cursor: 'from-another-database' }, 2)).got).toEqual([4, 5])
    expect(asked.at(-1)?.get('cursor')).toBeNull()
    await expect(run(client, { sequence: 3, cursor: 'really-torn' }, 2)).resolves.toMatchObject({ got: [4, 5] })
    faults.push(down())
    await expect(run(client, { sequence: 0 }, 1)).rejects.toThrow('nothing listens there')
    const revoked = () => void faults.push(new ApiError('forbidden', 'the key was revoked'))
    await expect(run(client, { sequence: 0 }, 6, revoked)).rejects.toThrow('the key was revoked')
  })
})
