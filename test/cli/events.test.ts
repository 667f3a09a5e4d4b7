import { describe, expect, it, onTestFinished } from 'vitest'
import { type EventPosition, eventPosition, followEvents } from '../../commands/events/follow.ts'
import { type Client, createClient } from '../../src/client.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/ports.ts'
import { ORIGIN, START, startService } from '../support/service.ts'
import { commandLine } from './command-line.ts'
import { makeEvents, started, upTo } from './following.ts'

const cli = commandLine()
const sequences = (lines: string[]) => lines.map((line) => JSON.parse(line).sequence as number)

describe('events verify', () => {
  it('says that nothing is missing where nothing has happened, and names the flag that it needs', async () => {
    const verified = await cli.svc(['events', 'verify', '--since', '0', '-o', 'table'])
    expect([verified.exitCode, verified.stdout.trim()]).toEqual([
      0,
      'Compared 0 accounts, 0 transactions and 0 events: nothing is missing, and nothing is extra.',
    ])
    const bare = await cli.svc(['events', 'verify'])
    expect([bare.exitCode, bare.stderr]).toEqual([2, expect.stringContaining('--since')])
  })
})

describe('events tail', () => {
  it('follows the database itself where no daemon runs', async () => {
    const tail = started(cli, ['events', 'watch', '--json'])
    await tail.says('after sequence 0')
    const daemon = await startDaemon({ dataDir: cli.dataDir, flags: ['--rpc-port', '0'] })
    onTestFinished(() => daemon.stop())
    await makeEvents(daemon, 0, 2)
    await tail.hasLines(2)
    expect(await tail.stopped('SIGINT')).toBe(130)
    expect(sequences(tail.lines())).toEqual([1, 2])
  })

  it('ends at once where nobody answers, or where the API refuses', async () => {
    const gone = await cli.svc(['events', 'watch', '--api', `http://127.0.0.1:${await freePort()}`])
    expect(gone).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('cannot be reached') })
    const refused = await cli.svc(['events', 'watch', '--type', 'pool.sunk'])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('type') })
  })
})

describe('a follower', () => {
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

  it.each([0, 1, 2, 99, 100, 101, 250])('takes up new events behind %i stored ones', async (stored) => {
    const { client, add } = await source(stored)
    const { got, said } = await run(client, { sequence: 0 }, stored + 60, () => add(3))
    expect(got).toEqual(upTo(stored + 60))
    expect(said).toEqual([])
  })

  it('reads one known event alone while nothing is new', async () => {
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

  it.each([
    ['as they should', later],
    ['all at once', () => 0],
    ['set back in the middle', (n: number) => later(n > 450 ? n - 400 : n)],
  ])('finds its place wherever it is, with clocks that run %s', async (_, age) => {
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
  })

  it('waits longer and longer for an API that fails, and says so once', async () => {
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

  it('starts over where its cursor is refused, and gives up on what waiting does not mend', async () => {
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
