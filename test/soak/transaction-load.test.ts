/** Ten thousand pending transactions: rounds are bounded, none waits forever, and two daemons share them without repeating one. */
import { describe, expect, test } from 'vitest'
import { ROUND_CALLS } from '../../src/following/rounds.ts'
import { freshStore, numbers, postgres, sqlite, type TestDatabase, twoStores } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { START, testClock } from '../support/service.ts'
import {
  agreeing,
  eventNames,
  fakeNode,
  insertPending,
  NAME,
  ROUND_MS,
  repeated,
  startWatcher,
  unended,
} from '../workers/transaction-watcher-setting.ts'

const MANY = 10_000
/** A confirmed one is looked for again after six seconds; what did not fit then is in the round after. */
const LONGEST_GAP_ROUNDS = 4

function loadSuite(database: TestDatabase): void {
  describe(`${MANY} pending transactions`, () => {
    test('are shared by two daemons: at most 40 calls a round, each looked up once a round and reported once', async () => {
      const stores = await twoStores(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const daemons = [
        await startWatcher(stores[0], { clock, fetch: node.fetch }),
        await startWatcher(stores[1], { clock, fetch: node.fetch }),
      ]
      const signatures = await insertPending(stores[0], MANY)
      const lastAsked = new Map(signatures.map((signature) => [signature, -1]))
      const times: string[] = []
      let done = 0

      for (let round = 0; (await unended(stores[0])) > 0; round++) {
        expect(round).toBeLessThan(60)
        // Nothing has landed in the first rounds; then everything lands at once, the most that a round can have to do.
        if (round === 6) for (const signature of signatures) node.landed.set(signature, node.slot() - 3)
        const began = performance.now()
        const outcomes = await Promise.all(
          daemons.map(({ workers }) => workers.runOnce(NAME, START + round * ROUND_MS)),
        )
        const { calls, asked, sent } = node.take()
        times.push(`${asked.length}: ${Math.round(performance.now() - began)} ms`)
        expect(outcomes.sort(), JSON.stringify(daemons.map(({ workers }) => workers.status()))).toEqual([
          'done',
          'idle',
        ])
        done++
        expect(calls.length).toBeLessThanOrEqual(ROUND_CALLS)
        expect(sent).toEqual([])
        expect(repeated(asked)).toEqual([])
        const late = asked.filter((signature) => round - lastAsked.get(signature)! > LONGEST_GAP_ROUNDS)
        expect(late, `round ${round}`).toEqual([])
        for (const signature of asked) lastAsked.set(signature, round)
        const askedAt = [...lastAsked.values()]
        if (round === 1) expect(askedAt.filter((at) => at < 0)).toEqual([])
        // What is still followed was looked for a short while ago.
        if (round < 6) expect(askedAt.filter((at) => round - at >= LONGEST_GAP_ROUNDS)).toEqual([])
        clock.advance(ROUND_MS)
      }

      process.stdout.write(`  ${database.kind}, transactions asked for and time of each round: ${times.join(', ')}\n`)
      const told = await eventNames(stores[0])
      expect(repeated(told)).toEqual([])
      expect(told.length).toBe(2 * MANY)
      for (const { workers } of daemons) {
        const state = workers.status().find(({ name }) => name === NAME)
        expect(state).toMatchObject({ ticks_total: done, errors_total: 0 })
      }
    }, 240_000)

    test('leave calls for sending: due ones are sent once, within three rounds', async () => {
      const store = await freshStore(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const { workers } = await startWatcher(store, { clock, fetch: node.fetch })
      const all = await insertPending(store, MANY, (n) => (n % 500 === 499 ? { next_send_at: START } : {}))
      const due = all.filter((_, n) => n % 500 === 499)
      const sent: string[] = []
      for (const round of numbers(3)) {
        expect(await workers.runOnce(NAME, START + round * ROUND_MS)).toBe('done')
        const took = node.take()
        expect(took.calls.length).toBeLessThanOrEqual(ROUND_CALLS)
        sent.push(...took.sent)
        clock.advance(ROUND_MS)
      }
      expect(new Set(sent)).toEqual(new Set(due))
    })

    test('that all wait to be sent are sent oldest first, some in every two rounds', async () => {
      const store = await freshStore(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const { workers } = await startWatcher(store, { clock, fetch: node.fetch })
      const all = await insertPending(store, MANY, () => ({ next_send_at: START }))
      const sent: string[] = []
      for (const round of numbers(8)) {
        const before = sent.length
        for (const half of numbers(2)) {
          expect(await workers.runOnce(NAME, START + (2 * round + half) * ROUND_MS)).toBe('done')
          const took = node.take()
          expect(took.calls.length).toBeLessThanOrEqual(ROUND_CALLS)
          sent.push(...took.sent)
          clock.advance(ROUND_MS)
        }
        expect(sent.length).toBeGreaterThan(before)
      }
      process.stdout.write(`  ${database.kind}, sent in 16 rounds of ${MANY} that are due: ${sent.length}\n`)
      expect(sent).toEqual(all.slice(0, sent.length))
    })

    test('that expire, each with a blockhash of its own, delay neither a new one nor one to be sent', async () => {
      const store = await freshStore(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const { workers, chain } = await startWatcher(store, { clock, fetch: node.fetch })
      agreeing(chain)
      const old = { since_slot: node.slot() - 400, created_at: START - 160_000 }
      const expired = await insertPending(store, 1000, (n) => ({ ...old, blockhash: `old ${n}` }))
      for (const n of numbers(1000)) node.gone.add(`old ${n}`)
      const young = await insertPending(store, 5, () => ({ next_send_at: START }))
      for (const signature of young) node.landed.set(signature, node.slot() + 20)
      const sent: string[] = []
      for (const round of numbers(5)) {
        expect(await workers.runOnce(NAME, START + round * ROUND_MS)).toBe('done')
        const took = node.take()
        expect(took.calls.length).toBeLessThanOrEqual(ROUND_CALLS)
        sent.push(...took.sent)
        clock.advance(ROUND_MS)
      }
      expect(new Set(sent)).toEqual(new Set(young))
      let round = 5
      for (; (await unended(store)) > 0 && round < 200; round++) {
        expect(await workers.runOnce(NAME, START + round * ROUND_MS)).toBe('done')
        expect(node.take().calls.length).toBeLessThanOrEqual(ROUND_CALLS)
        clock.advance(ROUND_MS)
      }
      process.stdout.write(`  ${database.kind}, rounds until 1,000 blockhashes are proven to be gone: ${round}\n`)
      expect((await eventNames(store)).toSorted()).toEqual(
        [
          ...expired.map((signature) => `transaction.failed ${signature}`),
          ...young.map((signature) => `transaction.confirmed ${signature}`),
          ...young.map((signature) => `transaction.finalized ${signature}`),
        ].toSorted(),
      )
    })
  })
}

describe('SQLite', () => loadSuite(sqlite))

const server = await startPostgres()
if ('missing' in server) {
  describe('PostgreSQL', () => {
    test.skip(`${MANY} pending transactions: PostgreSQL cannot be run here (${server.missing})`, () => {})
  })
} else {
  describe('PostgreSQL', () => {
    loadSuite(postgres(server))
  })
}
