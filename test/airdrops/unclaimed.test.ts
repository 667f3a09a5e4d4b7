/** The largest entries that nobody has claimed are those of the stored list without the recorded claims. */
import type { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { largestFirst } from '../../src/operations/airdrops/list-unclaimed.ts'
import { recordAirdropClaim } from '../../src/store/airdrops/claims.ts'
import {
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  type Entry,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { runs } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { wallet } from '../support/trees.ts'

const MINT = '9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY'
const U64_MAX = 2n ** 64n - 1n

const shared = sharedService()

interface Listed extends Entry {
  amount_locked: string
}

let stored = 0
/** Stores the list, and records a claim of each of these wallets. */
async function listWith(entries: readonly Listed[], claimed: readonly string[]) {
  const { services, request } = await shared()
  const body = { mint: MINT, airdrop_count: stored++, entries }
  const { id } = (await request('POST', '/v2/merkle-trees', { body })).json.data
  const genesis = await services.chain.genesisHash()
  await services.store.write(async (tx) => {
    for (const [n, claimer] of claimed.entries()) {
      const claim = { genesis, airdrop_id: id, wallet: claimer, kind: 'claim', amount: 1n, amount_locked: 0n } as const
      await recordAirdropClaim(tx, { ...claim, signature: `${id} ${n}`, slot: n, claimed_at: (n + 1) * 1_000 })
    }
  })
  const read = async (limit: number) => (await request('GET', `/v2/airdrops/${id}/unclaimed?limit=${limit}`)).json
  return { id, read }
}

const listed = (amounts: readonly (readonly [bigint, bigint])[]): Listed[] =>
  amounts.map(([amount, locked], n) => ({ wallet: wallet(n), amount: String(amount), amount_locked: String(locked) }))

const sizeOf = ({ amount, amount_locked }: Listed) => BigInt(amount) + BigInt(amount_locked)

/** What the answer must be, by sorting everything. */
const plainly = (entries: readonly Listed[], claimed: readonly string[]) =>
  entries
    .map((entry, index) => ({ ...entry, index }))
    .filter((entry) => !claimed.includes(entry.wallet))
    .sort((one, other) =>
      sizeOf(other) > sizeOf(one) ? 1 : sizeOf(other) < sizeOf(one) ? -1 : one.index - other.index,
    )

const amounts = fc.oneof(fc.bigInt(1n, 3n), fc.bigInt(1n, U64_MAX / 2n))
const anyEntry = fc.record({
  sums: fc.tuple(amounts, fc.oneof(fc.constant(0n), amounts)),
  claimed: fc.boolean(),
})

describe('The largest unclaimed entries of a list', () => {
  it('are those of a plain reading', { tags: 'sampled' }, async () => {
    const drawn = fc.array(anyEntry, { minLength: 1, maxLength: 40 })
    const holds = fc.asyncProperty(drawn, fc.integer({ min: 1, max: 50 }), async (rows, limit) => {
      const entries = listed(rows.map(({ sums }) => sums))
      const claimed = rows.flatMap((row, n) => (row.claimed ? [wallet(n)] : []))
      const { data } = await (await listWith(entries, claimed)).read(limit)
      expect(data.wallets).toEqual(plainly(entries, claimed).slice(0, limit))
      expect(data.leaf_count).toBe(entries.length)
      expect(data.recorded).toMatchObject({ claims: claimed.length, wallets: claimed.length })
    })
    await fc.assert(holds, { numRuns: runs(15, 200) })
  })

  it('are found behind more claims than one query looks up', async () => {
    const entries = listed(Array.from({ length: 1_300 }, (_, n) => [BigInt(5_000 - (n % 700)), 0n] as const))
    const [last, ...others] = plainly(entries, []).reverse()
    const claimed = others.map((entry) => entry.wallet)
    const { data } = await (await listWith(entries, claimed)).read(3)
    expect(data.wallets).toEqual([last])
    expect(data.recorded).toMatchObject({ claims: 1_299, first_claim_at: '1970-01-01T00:00:01.000Z' })
  })

  it('are sorted by steps like at once', () => {
    const anySums = fc.array(fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(0n, U64_MAX)), {
      minLength: 2_500,
      maxLength: 5_000,
    })
    fc.assert(
      fc.property(anySums, (drawn) => {
        const sums = BigUint64Array.from(drawn)
        const sorted = drawn.map((sum, index) => ({ sum, index }))
        sorted.sort((one, other) => (other.sum > one.sum ? 1 : other.sum < one.sum ? -1 : one.index - other.index))
        expect([...largestFirst(sums)]).toEqual(sorted.map(({ index }) => index))
      }),
      { numRuns: runs(10, 200) },
    )
  })

  it('need a stored list, and a limit that is a number', async () => {
    const { request } = await shared()
    const unknown = '/v2/airdrops/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/unclaimed'
    expect((await request('GET', unknown)).status).toBe(404)
    for (const limit of ['0', '101', 'x']) {
      const { status, json } = await request('GET', `${unknown}?limit=${limit}`)
      expect([status, json.error.param], limit).toEqual([400, 'limit'])
    }
  })
})

describe.skipIf(lacksDistributor)('The unclaimed entries of an airdrop (need the Jito merkle distributor)', () => {
  it('lose a wallet when its claim is recorded', async () => {
    const all = await airdropsOn(await shared())
    const payer = all.wallet()
    const wallets = Array.from({ length: 4 }, () => all.wallet())
    const mint = all.mintFor(payer, 1_000_000n)
    const tree = await all.storeTree(mint, entriesFor(wallets))
    const path = `/v2/airdrops/${tree.id}`
    const unclaimed = async () =>
      (await all.ok('GET', `${path}/unclaimed`)).wallets.map((row: Entry) => [row.wallet, row.amount])
    const claim = async (key: Keypair) => all.submit(await all.ok('POST', `${path}/claims`, claimBody(key)), key)
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root)), payer)
    await all.settle()
    const entries = wallets.map((key, n) => [addressOf(key), String((n + 1) * 1_000)])
    expect(await unclaimed()).toEqual([entries[3], entries[2], entries[1], entries[0]])
    await claim(wallets[3]!)
    await claim(wallets[1]!)
    await all.settle()
    expect(await unclaimed()).toEqual([entries[2], entries[0]])
    const { recorded } = await all.ok('GET', `${path}/unclaimed`)
    const at = new Date(all.clock.now()).toISOString()
    expect(recorded).toEqual({ claims: 2, wallets: 2, first_claim_at: at, last_claim_at: at })
  })
})
