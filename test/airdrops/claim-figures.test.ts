/** Totals and the median of recorded claims are those of all claims, however they arrive, on both databases. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../src/platform/timing.ts'
import { claimFigures, claimWindows } from '../../src/store/airdrops/claim-figures.ts'
import { type NewAirdropClaim, pageAirdropClaims, recordAirdropClaim } from '../../src/store/airdrops/claims.ts'
import type { Store } from '../../src/store/store.ts'
import { freshStore, numbers, postgres, sqlite, type TestDatabase, twoStores } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { runs } from '../support/runs.ts'

const server = await startPostgres()
const pg = 'missing' in server ? undefined : postgres(server)

const U64_MAX = 2n ** 64n - 1n
const GENESIS = 'chain'
const claimOf = (n: number, more: Partial<NewAirdropClaim> = {}): NewAirdropClaim => ({
  genesis: GENESIS,
  airdrop_id: 'airdrop',
  wallet: `wallet ${n}`,
  kind: 'claim',
  amount: BigInt(n),
  amount_locked: 0n,
  signature: `signature ${n}`,
  slot: n,
  claimed_at: n * 1_000,
  ...more,
})
const record = (store: Store, claim: NewAirdropClaim) => store.write((tx) => recordAirdropClaim(tx, claim))

/** What the figures must be, by adding and sorting everything. */
function figuresOf(claims: readonly NewAirdropClaim[]) {
  const sizes = claims.map(({ amount, amount_locked }) => amount + amount_locked).sort((a, b) => (a < b ? -1 : 1))
  const times = claims.map(({ claimed_at }) => claimed_at)
  const [lower, upper] = [sizes[Math.ceil(sizes.length / 2) - 1]!, sizes[Math.floor(sizes.length / 2)]!]
  const sum = (part: 'amount' | 'amount_locked') => claims.reduce((all, claim) => all + claim[part], 0n)
  return {
    claims: claims.length,
    wallets: claims.filter(({ kind }) => kind === 'claim').length,
    amount: sum('amount'),
    amount_locked: sum('amount_locked'),
    median: (lower + upper) / 2n,
    first_at: Math.min(...times),
    last_at: Math.max(...times),
  }
}

const amounts = fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(0n, U64_MAX), fc.constant(U64_MAX))
const anyClaims = fc.array(
  fc.record({
    amount: amounts,
    amount_locked: fc.oneof(fc.constant(0n), amounts),
    hour: fc.nat(100),
    later: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60 },
)

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('claims of an airdrop on %s', (name, database) => {
  it.skipIf(database === undefined)('have correct totals and a correct median', { tags: 'sampled' }, async () => {
    const store = await freshStore(database!)
    let run = 0
    const holds = fc.asyncProperty(anyClaims, fc.integer({ min: 1, max: 48 }), async (drawn, hours) => {
      const airdrop_id = `airdrop ${run++}`
      const of = { genesis: GENESIS, airdrop_id }
      const claims = drawn.map(({ hour, later, ...sums }, n) =>
        claimOf(n, { ...sums, ...of, claimed_at: hour * HOUR_MS + n, kind: later ? 'claim_locked' : 'claim' }),
      )
      await store.write(async (tx) => {
        for (const claim of claims) expect(await recordAirdropClaim(tx, claim)).toBe(true)
      })
      // Told again, nothing is counted again.
      for (const claim of claims.slice(0, 3)) expect(await record(store, claim)).toBe(false)
      expect(await claimFigures(store.db, of)).toEqual(figuresOf(claims))
      const windows = await claimWindows(store.db, of, { since: 0, hours })
      const byWindow = new Map<number, NewAirdropClaim[]>()
      for (const claim of claims) {
        const at = Math.floor(claim.claimed_at / (hours * HOUR_MS))
        byWindow.set(at, [...(byWindow.get(at) ?? []), claim])
      }
      const expected = [...byWindow].sort(([one], [other]) => one - other)
      expect(windows).toEqual(
        expected.map(([at, within]) => {
          const { median, first_at, last_at, ...sums } = figuresOf(within)
          return { ...sums, at: at * hours * HOUR_MS }
        }),
      )
    })
    await fc.assert(holds, { numRuns: runs(name === 'SQLite' ? 10 : 3, name === 'SQLite' ? 100 : 15) })
  })

  it.skipIf(database === undefined)(
    'of one wallet count once, with the later slot if a fork dropped the first',
    async () => {
      const store = await freshStore(database!)
      const of = { genesis: GENESIS, airdrop_id: 'airdrop' }
      const first = claimOf(1, { amount: 7n, slot: 10, claimed_at: HOUR_MS })
      const again = { ...first, signature: 'again', slot: 11, claimed_at: 3 * HOUR_MS }
      for (const claim of [first, again, first]) await record(store, claim)
      expect(await claimFigures(store.db, of)).toMatchObject({ claims: 1, wallets: 1, amount: 7n, median: 7n })
      expect(await claimWindows(store.db, of, { since: 0, hours: 1 })).toMatchObject([{ at: 3 * HOUR_MS, claims: 1 }])
      const { rows } = await pageAirdropClaims(store.db, { ...of, limit: 10 })
      expect(rows).toMatchObject([{ signature: 'again', slot: 11, amount: '7' }])
      // The same wallet on another chain has claimed there.
      await record(store, { ...first, genesis: 'other' })
      expect(await claimFigures(store.db, { ...of, genesis: 'other' })).toMatchObject({ claims: 1 })
      expect(await claimFigures(store.db, { ...of, airdrop_id: 'unknown' })).toMatchObject({ claims: 0, median: null })
    },
  )

  it.skipIf(database === undefined)(
    'of vested amounts have what the wallet had not claimed before, as far as known',
    async () => {
      const store = await freshStore(database!)
      const of = { genesis: GENESIS, airdrop_id: 'airdrop' }
      const vested = (n: number, withdrawn: bigint) => {
        const amounts = { amount: 0n, amount_locked: 0n, withdrawn }
        return claimOf(n, { ...amounts, wallet: 'wallet', kind: 'claim_locked' })
      }
      await record(store, claimOf(1, { wallet: 'wallet', amount: 10n, amount_locked: 5n }))
      for (const claim of [vested(2, 12n), vested(2, 20n), vested(3, 12n), vested(4, 20n)]) await record(store, claim)
      const { rows } = await pageAirdropClaims(store.db, { ...of, limit: 9 })
      expect(rows.map(({ amount_locked }) => amount_locked)).toEqual(['8', '0', '7', '5'])
      expect(await claimFigures(store.db, of)).toMatchObject({ claims: 4, wallets: 1, amount: 10n, amount_locked: 20n })
    },
  )

  it.skipIf(database === undefined)('that two processes record at once are each counted once', async () => {
    const stores = await twoStores(database!)
    const claims = numbers(40).map((n) => claimOf(n, { amount: BigInt((n * 7) % 11) }))
    await Promise.all(claims.flatMap((claim) => stores.map((store) => record(store, claim))))
    const {
      claims: count,
      amount,
      median,
    } = await claimFigures(stores[0].db, { genesis: GENESIS, airdrop_id: 'airdrop' })
    const { amount: sum, median: middle } = figuresOf(claims)
    expect({ count, amount, median }).toEqual({ count: 40, amount: sum, median: middle })
  })
})
