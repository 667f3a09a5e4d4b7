/** What was claimed of an airdrop, when and by whom, is listed and added up; what the records lack is said. */
import type { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import { addressOf, airdropsOn, claimBody, createBody, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { sharedService } from '../support/service.ts'

const HOUR_S = 3_600

const shared = sharedService()

async function airdropOf(count: number) {
  const all = await airdropsOn(await shared())
  const payer = all.wallet()
  const wallets = Array.from({ length: count }, () => all.wallet())
  const mint = all.mintFor(payer, 1_000_000n)
  const tree = await all.storeTree(mint, entriesFor(wallets))
  const path = `/v2/airdrops/${tree.id}`
  const claim = (key: Keypair) => all.ok('POST', `${path}/claims`, claimBody(key))
  return {
    ...all,
    ...{ payer, wallets, mint, tree, path },
    make: async () => all.submit(await all.ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root)), payer),
    claim: async (key: Keypair) => all.submit(await claim(key), key),
    claimElsewhere: async (key: Keypair) => all.land((await claim(key)).transaction, key),
  }
}

describe.skipIf(lacksDistributor)('the figures of an airdrop (need the Jito merkle distributor)', () => {
  it('come from its claims, by hour and day, with what is left', async () => {
    const { make, claim, settle, ok, path, wallets, clock, pass, mint } = await airdropOf(5)
    expect(await ok('GET', `${path}/stats`)).toMatchObject({
      ...{ mint, status: 'tree_built', leaf_count: 5, total: '15000', claimed_count: null, left_amount: null },
      recorded: { claims: 0, wallets: 0, amount: '0', median_amount: null, claims_per_hour: 0, last_claim_at: null },
      note: null,
    })
    await make()
    await settle()
    const signature = await claim(wallets[0]!)
    await settle()
    const first = clock.now()
    pass(2 * HOUR_S)
    await claim(wallets[1]!)
    await claim(wallets[3]!)
    await settle()
    const stats = await ok('GET', `${path}/stats?hours=3&days=2`)
    expect(stats).toMatchObject({
      ...{ status: 'claiming', leaf_count: 5, total: '15000', claimed_count: 3, claimed_amount: '7000' },
      ...{ claimed_count_share: 0.6, claimed_amount_share: 0.466666, left_count: 2, left_amount: '8000' },
      ...{ vault_balance: '8000', clawed_back: false, clawback_at: expect.any(String), note: null },
      recorded: { claims: 3, wallets: 3, amount: '7000', missing_count: 0, median_amount: '2000' },
    })
    expect(stats.recorded).toMatchObject({
      ...{ first_claim_at: new Date(first).toISOString(), last_claim_at: new Date(clock.now()).toISOString() },
      claims_per_hour: 1.5,
    })
    expect(stats.hours.map(({ claims, amount }: { claims: number; amount: string }) => [claims, amount])).toEqual([
      [1, '1000'],
      [0, '0'],
      [2, '6000'],
    ])
    const hour = Math.floor(clock.now() / 3_600_000) * 3_600_000
    expect(stats.hours.map(({ at }: { at: string }) => at)).toEqual(
      [2, 1, 0].map((ago) => new Date(hour - ago * 3_600_000).toISOString()),
    )
    const days = stats.days.map(({ claims }: { claims: number }) => claims)
    expect([days.length, days[0] + days[1]]).toEqual([2, 3])

    const claims = await ok('GET', `${path}/claims`)
    expect(claims.map(({ wallet, amount }: { wallet: string; amount: string }) => [wallet, amount])).toEqual([
      [addressOf(wallets[3]!), '4000'],
      [addressOf(wallets[1]!), '2000'],
      [addressOf(wallets[0]!), '1000'],
    ])
    expect(claims[2]).toMatchObject({ signature, amount_locked: '0', slot: expect.any(Number) })
    expect(claims[2].claimed_at).toBe(new Date(first).toISOString())
  })

  it('say how many claims are not recorded, and are complete once those were found on the chain', async () => {
    const { make, claim, claimElsewhere, settle, ok, path, wallets, pass, services } = await airdropOf(3)
    await make()
    await settle()
    await claim(wallets[0]!)
    await settle()
    await claimElsewhere(wallets[1]!)
    pass(1)
    const before = await ok('GET', `${path}/stats`)
    expect(before).toMatchObject({ claimed_count: 2, recorded: { claims: 1, missing_count: 1 } })
    expect(before.note).toMatch(/^1 of the wallets that have claimed are not recorded here/)
    for (let n = 0; n < 4; n++) {
      await reconcileRecords(services)
      pass(60)
    }
    const after = await ok('GET', `${path}/stats`)
    expect(after).toMatchObject({
      claimed_count: 2,
      recorded: { claims: 2, missing_count: 0, amount: '3000' },
      note: null,
    })
    const wallet = addressOf(wallets[1]!)
    expect((await ok('GET', `${path}/claims`))[0]).toMatchObject({ wallet, amount: '2000' })
  })

  it('refuse windows that are not numbers, and invalid ids', async () => {
    const { request, path, make } = await airdropOf(1)
    await make()
    for (const query of ['hours=0', 'hours=169', 'days=367', 'hours=1.5', 'hours=1&hours=2', 'days=x']) {
      const { status, json } = await request('GET', `${path}/stats?${query}`)
      expect([status, json.error.param], query).toEqual([400, query.split('=')[0]])
    }
    const unknown = '/v2/airdrops/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    expect((await request('GET', `${unknown}/stats`)).status).toBe(404)
    expect((await request('GET', `${unknown}/claims`)).json.data).toEqual([])
    expect((await request('GET', '/v2/airdrops/x/claims')).json.error.param).toBe('id')
  })
})
