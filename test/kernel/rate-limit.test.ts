/** Rate limits: rolling, exact under concurrency, kept over a restart. */
import { describe, expect, it } from 'vitest'
import { startPostgres } from '../store/postgres-server.ts'
import type { Answer } from '../support/request.ts'
import {
  openService,
  type Service,
  sharedService,
  startService,
  temporaryFolder,
  testClock,
} from '../support/service.ts'

const shared = sharedService()
const MINUTE = 60_000
const DAY = 86_400_000

const times = <T>(count: number, make: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))
const passed = (answers: Answer[]) => answers.filter(({ status }) => status === 200).length

function expectExactly(answers: Answer[], limit: number): void {
  expect(passed(answers)).toBe(limit)
  const refused = answers.filter(({ status }) => status !== 200)
  for (const { status, json, headers } of refused) {
    expect([status, json.error.code, json.error.message]).toEqual([
      429,
      'rate_limited',
      'Too many requests this minute',
    ])
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  const remaining = answers
    .filter(({ status }) => status === 200)
    .map(({ headers }) => /r=(\d+)/.exec(headers.get('ratelimit')!)![1])
  expect(new Set(remaining).size).toBe(limit)
}

describe('64 parallel requests of a key with 50 a minute', () => {
  it('are admitted exactly 50 times in one process', async () => {
    const { request, key } = await shared()
    const bearer = await key({ perMinute: 50 })
    expectExactly(await times(64, () => request('GET', '/v2/pools', { key: bearer })), 50)
  })

  it('are admitted exactly 50 times, on any route, found or not', async () => {
    const { request, key } = await shared()
    const bearer = await key({ perMinute: 50 })
    const paths = ['/v2/pools', '/v2/events', '/v2/events/absent', '/v2/pools?limit=0']
    const answers = await times(64, (n) => request('GET', paths[n % 4]!, { key: bearer }))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(14)
    expect(answers.filter(({ status }) => [200, 404, 400].includes(status))).toHaveLength(50)
  })
})

describe('a rate limit window', () => {
  it('rolls: a place is free again exactly one minute after its request', async () => {
    const { request, key, clock } = await shared()
    const bearer = await key({ perMinute: 50 })
    const ask = async () => (await request('GET', '/v2/pools', { key: bearer })).status
    for (let n = 0; n < 50; n++) {
      expect(await ask()).toBe(200)
      clock.advance(100)
    }
    expect(await ask()).toBe(429)
    clock.advance(MINUTE - 5_000 - 1)
    expect(await ask()).toBe(429)
    clock.advance(1)
    expect(await ask()).toBe(200)
    expect(await ask()).toBe(429)
    clock.advance(99)
    expect(await ask()).toBe(429)
    clock.advance(1)
    expect(await ask()).toBe(200)
    expect(await ask()).toBe(429)
  })

  it('does not count refused requests', async () => {
    const { request, key, clock } = await shared()
    const bearer = await key({ perMinute: 2 })
    const ask = async () => (await request('GET', '/v2/pools', { key: bearer })).status
    await times(2, ask)
    for (let n = 0; n < 59; n++) {
      clock.advance(1000)
      expect(await ask()).toBe(429)
    }
    clock.advance(1000)
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
  })

  it('of a day has its own message, and rolls too', async () => {
    const { request, key, clock } = await shared()
    const bearer = await key({ perMinute: 2, perDay: 3 })
    const ask = () => request('GET', '/v2/pools', { key: bearer })
    expect(passed(await times(3, ask))).toBe(2)
    clock.advance(MINUTE)
    expect((await ask()).status).toBe(200)
    const refused = await ask()
    expect([refused.status, refused.json.error.message]).toEqual([429, 'Daily quota exceeded'])
    expect(refused.headers.get('retry-after')).toBe(String((DAY - MINUTE) / 1000))
    clock.advance(DAY - MINUTE - 1)
    expect((await ask()).status).toBe(429)
    clock.advance(1)
    expect(passed(await times(3, ask))).toBe(2)
  })

  it('is separate for each key and excludes public paths', async () => {
    const { request, key } = await shared()
    const [one, other] = [await key({ perMinute: 1 }), await key({ perMinute: 1 })]
    const ask = async (bearer: string, path = '/v2/pools') => (await request('GET', path, { key: bearer })).status
    expect([await ask(one), await ask(one), await ask(other)]).toEqual([200, 429, 200])
    expect(passed(await times(20, () => request('GET', '/v2/health', { key: one })))).toBe(20)
    expect([await ask(one, '/v2/nothing'), await ask(one)]).toEqual([404, 429])
  })

  it('does not apply to the local operator', async () => {
    const { request } = await shared()
    const answers = await times(300, () => request('GET', '/v2/pools'))
    expect(passed(answers)).toBe(300)
    expect(answers[0]!.headers.get('ratelimit')).toBeNull()
  })
})

describe('the rate limit headers', () => {
  it('are on every authenticated answer, with Retry-After only on a refusal', async () => {
    const { request, key, clock } = await shared()
    const bearer = await key({ perMinute: 3, perDay: 100 })
    const first = await request('GET', '/v2/pools', { key: bearer })
    expect(first.headers.get('ratelimit-policy')).toBe('"minute";q=3;w=60, "day";q=100;w=86400')
    expect(first.headers.get('ratelimit')).toBe('"minute";r=2;t=60, "day";r=99;t=86400')
    expect(first.headers.get('retry-after')).toBeNull()
    clock.advance(10_500)
    const absent = await request('GET', '/v2/events/absent', { key: bearer })
    expect([absent.status, absent.headers.get('ratelimit')]).toEqual([404, '"minute";r=1;t=50, "day";r=98;t=86390'])
    const invalid = await request('POST', '/v2/stakes', { key: bearer, body: '{' })
    expect([invalid.status, invalid.headers.get('ratelimit')?.slice(0, 12)]).toEqual([400, '"minute";r=0'])
    const refused = await request('GET', '/v2/pools', { key: bearer })
    expect(refused.headers.get('ratelimit-policy')).toBe('"minute";q=3;w=60, "day";q=100;w=86400')
    expect(refused.headers.get('ratelimit')).toBe('"minute";r=0;t=50, "day";r=97;t=86390')
    expect(refused.headers.get('retry-after')).toBe('50')
    clock.advance(50_000)
    expect((await request('GET', '/v2/pools', { key: bearer })).status).toBe(200)
    expect((await request('GET', '/v2/pools', { key: null })).headers.get('ratelimit')).toBeNull()
  })
})

describe('a restart', () => {
  it('keeps the counts and their times', async () => {
    const clock = testClock()
    const dataDir = temporaryFolder()
    const first = await openService({ dataDir, clock })
    const bearer = await first.key({ perMinute: 5, perDay: 6 })
    const asked = (service: Service, count: number) =>
      times(count, () => service.request('GET', '/v2/pools', { key: bearer }))
    expect(passed(await asked(first, 4))).toBe(4)
    await first.close()
    clock.advance(MINUTE - 1)
    const second = await openService({ dataDir, clock })
    expect(passed(await asked(second, 3))).toBe(1)
    await second.close()
    clock.advance(1)
    const third = await startService({ dataDir, clock })
    const answers = await asked(third, 3)
    expect(passed(answers)).toBe(1)
    expect(answers.at(-1)!.json.error.message).toBe('Daily quota exceeded')
  })
})

const server = await startPostgres()
if ('missing' in server) {
  it.skip(`two daemons on PostgreSQL share a limit: PostgreSQL cannot be run here (${server.missing})`, () => {})
} else {
  it('two daemons on one PostgreSQL database admit exactly 50 of 64 requests between them', async () => {
    const database = {
      'database-url': await server.createMigratedDatabase(),
      'encryption-key': 'ab'.repeat(32),
    }
    // On a busy machine 64 at once wait long for the lock of their key, which is not what this is about.
    const settings = { ...database, 'postgres.pool-timeout-ms': 60_000, 'postgres.lock-timeout-ms': 60_000 }
    const clock = testClock()
    const [one, other] = [await startService({ settings, clock }), await startService({ settings, clock })]
    const bearer = await one.key({ perMinute: 50 })
    const ask = (n: number) => (n % 2 ? one : other).request('GET', '/v2/pools', { key: bearer })
    expectExactly(await times(64, ask), 50)
    clock.advance(MINUTE - 1)
    expect((await ask(0)).status).toBe(429)
    clock.advance(1)
    expect(passed(await times(64, ask))).toBe(50)
  })
}

describe('GET /metrics', () => {
  it('counts against the limit of its key, and shows the remaining requests', async () => {
    const { app, key } = await shared()
    const bearer = await key({ perMinute: 2 })
    const ask = () =>
      app.fetch(new Request('http://svc.test/metrics', { headers: { authorization: `Bearer ${bearer}` } }))
    const first = await ask()
    expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"minute";r=1;t=60'])
    await ask()
    const third = await ask()
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await third.json()).toMatchObject({ error: { code: 'rate_limited' } })
  })
})
