/** Airdrops and sponsorships that need a person: each cause is made on the real program, seen in the list, and dealt with. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import { decimalOf, solText } from '../../src/solana/amounts.ts'
import { addressOf, airdropsOn, createBody, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { GENEROUS, startPlatform } from '../support/platform-wallet.ts'
import { startService } from '../support/service.ts'
import {
  buildsOf,
  openSponsoredAirdrop,
  SPONSORED_COST,
  SPONSORED_FEE,
  sponsorshipOf,
} from '../support/sponsored-airdrop.ts'
import { listed, only } from './listed.ts'

describe.skipIf(lacksDistributor)('airdrop_unfinished (needs the Jito merkle distributor)', () => {
  it('names a stored list without its airdrop after an hour, until the airdrop is on chain', async () => {
    const all = await airdropsOn(await startService())
    const maker = all.wallet()
    const mint = all.mintFor(maker, 10_000_000n)
    const { id, root } = await all.storeTree(mint, entriesFor([Keypair.generate(), Keypair.generate()]))
    expect(await listed(all, 'airdrop_unfinished')).toEqual([])
    all.clock.advance(HOUR_MS)
    expect(await only(all, 'airdrop_unfinished')).toMatchObject({
      subject: { type: 'airdrop', id },
      summary: `The list ${id} with 2 wallets for ${mint} is stored, and its airdrop is not on chain.`,
      command: `svc airdrops init ${id}`,
      page: `/console/airdrops/${id}`,
    })
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(maker, mint, root)), maker)
    await all.settle()
    expect(await listed(all, 'airdrop_unfinished')).toEqual([])
  })

  it('names a vault that is short with what it lacks and the command that funds it, until it is funded', async () => {
    const all = await airdropsOn(await startService())
    const maker = all.wallet()
    const mint = all.mintFor(maker, 10_000_000n)
    const claimers = [Keypair.generate(), Keypair.generate()]
    const { id, root } = await all.storeTree(mint, entriesFor(claimers))
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(maker, mint, root, { fund: false })), maker)
    const { distributor, vault } = await all.vaultOf(mint)
    await all.settle({ worker: true })
    all.pass(20)
    await all.settle({ worker: true })
    expect(await listed(all, 'airdrop_unfinished')).toEqual([])
    const since = new Date(all.clock.now()).toISOString()
    all.pass(600)
    await all.settle({ worker: true })
    const item = await only(all, 'airdrop_unfinished')
    expect(item).toMatchObject({
      subject: { type: 'airdrop', id },
      summary: `The vault of the airdrop ${id} lacks 0.003 of ${mint} for what can still be claimed.`,
      command: `svc wallet send ${distributor} 0.003 --mint ${mint} --allow-programs`,
    })
    expect(item.since <= since).toBe(true)
    all.mintInto(mint, vault, 1_000n)
    all.pass(20)
    await all.settle({ worker: true })
    expect(await only(all, 'airdrop_unfinished')).toMatchObject({
      since: item.since,
      summary: expect.stringContaining('lacks 0.002 of'),
    })
    all.mintInto(mint, vault, 2_000n)
    all.pass(20)
    await all.settle({ worker: true })
    expect(await listed(all, 'airdrop_unfinished')).toEqual([])
  })

  it('names a short vault no longer once it was withdrawn', async () => {
    const all = await airdropsOn(await startPlatform(GENEROUS))
    const maker = all.wallet()
    const mint = all.mintFor(maker, 10_000_000n)
    const { id, root } = await all.storeTree(mint, entriesFor([Keypair.generate()]))
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(maker, mint, root, { fund_amount: '900' })), maker)
    for (const seconds of [20, 20, 600]) {
      await all.settle({ worker: true })
      all.pass(seconds)
    }
    expect(await listed(all, 'airdrop_unfinished')).toHaveLength(1)
    all.pass((31 * DAY_MS) / 1000)
    await all.ok('POST', `/v2/airdrops/${id}/vault-withdrawals`, { amount: '900' })
    await all.settle({ worker: true })
    expect(await listed(all, 'airdrop_unfinished')).toEqual([])
  })

  it('leaves the list after a week', async () => {
    const all = await airdropsOn(await startService())
    await all.storeTree(all.mintFor(all.wallet(), 1n), entriesFor([Keypair.generate()]))
    all.clock.advance(7 * DAY_MS)
    expect(await listed(all, 'airdrop_unfinished')).toEqual([])
  })
})

describe.skipIf(lacksDistributor)('sponsorship_spent (needs the Jito merkle distributor)', () => {
  it('says what is left when it pays for no further claim, until the budget is raised or it ends', async () => {
    const budget = 2n * SPONSORED_COST - 1n
    const all = await openSponsoredAirdrop({ budget: String(budget) })
    expect(await listed(all, 'sponsorship_spent')).toEqual([])
    await all.claimBy(all.first)
    expect(await only(all, 'sponsorship_spent')).toMatchObject({
      subject: { type: 'airdrop', id: all.id },
      summary: expect.stringContaining(
        `has ${solText(SPONSORED_COST - 1n)} of ${solText(budget)} left, and a claim costs ${solText(SPONSORED_COST)}.`,
      ),
      command: `svc airdrops sponsor ${all.id} --budget ${decimalOf(2n * budget, 9)}`,
    })
    await all.ok('PATCH', sponsorshipOf(all.id), { budget: String(4n * SPONSORED_COST) })
    expect(await listed(all, 'sponsorship_spent')).toEqual([])
    await all.ok('PATCH', sponsorshipOf(all.id), { budget: String(SPONSORED_COST) })
    expect(await listed(all, 'sponsorship_spent')).toHaveLength(1)
    await all.ok('PATCH', sponsorshipOf(all.id), { enabled: false })
    expect(await listed(all, 'sponsorship_spent')).toEqual([])
  })
})

describe.skipIf(lacksDistributor)('sponsored_claims_refused (needs the Jito merkle distributor)', () => {
  it('says why, until the budget is raised, or a day has passed without a refusal', async () => {
    const all = await openSponsoredAirdrop({ budget: String(SPONSORED_COST - 1n) })
    const refuse = async () =>
      (await all.refused('POST', buildsOf(all.id), { claimer: addressOf(all.first) })).details.reason
    expect(await refuse()).toBe('budget_exhausted')
    const item = await only(all, 'sponsored_claims_refused')
    expect(item).toMatchObject({
      subject: { type: 'airdrop', id: all.id },
      summary: expect.stringMatching(
        / are refused: The sponsorship .* has .* SOL left, and this claim costs .* SOL\.$/,
      ),
      command: expect.stringContaining(`svc airdrops sponsor ${all.id} --budget `),
      ends_at: new Date(all.clock.now() + DAY_MS).toISOString(),
    })
    all.clock.advance(2 * MINUTE_MS)
    await refuse()
    const later = await only(all, 'sponsored_claims_refused')
    expect([later.since, later.ends_at]).toEqual([item.since, new Date(all.clock.now() + DAY_MS).toISOString()])
    await all.ok('PATCH', sponsorshipOf(all.id), { budget: String(SPONSORED_COST) })
    expect(await listed(all, 'sponsored_claims_refused')).toEqual([])
    await all.claimBy(all.first)
    await all.ok('PATCH', sponsorshipOf(all.id), { budget: '1' })
    const [, second] = all.claimers
    await all.refused('POST', buildsOf(all.id), { claimer: addressOf(second!) })
    expect(await listed(all, 'sponsored_claims_refused')).toHaveLength(1)
    all.clock.advance(DAY_MS)
    expect(await listed(all, 'sponsored_claims_refused')).toEqual([])
  })

  it('names the command that shows the claims, if those of a wallet have ended three times without success', async () => {
    const all = await openSponsoredAirdrop()
    const claim = { airdrop_id: all.id, wallet: addressOf(all.first), genesis: await all.services.chain.genesisHash() }
    const ended = { status: 'expired', live: 0, settled_at: all.clock.now(), created_at: all.clock.now() } as const
    const costs = { lamports: String(SPONSORED_COST), fee: String(SPONSORED_FEE) }
    const rows = [1, 2, 3].map((n) => ({ id: `spc_${n}`, signing_id: `sgn_${n}`, signature: null, ...claim, ...costs }))
    await all.services.store.write((tx) =>
      tx
        .insertInto('sponsored_claims')
        .values(rows.map((row) => ({ ...row, ...ended })))
        .execute(),
    )
    const { details } = await all.refused('POST', buildsOf(all.id), { claimer: addressOf(all.first) })
    expect(details.reason).toBe('attempts_exhausted')
    expect(await only(all, 'sponsored_claims_refused')).toMatchObject({
      summary: `Sponsored claims of the airdrop ${all.id} are refused: 3 sponsored claims of ${addressOf(all.first)} have ended without success.`,
      command: `svc airdrops claims ${all.id}`,
    })
    await all.ok('PATCH', sponsorshipOf(all.id), { enabled: false })
    expect(await listed(all, 'sponsored_claims_refused')).toEqual([])
  })
})
