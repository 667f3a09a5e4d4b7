/** Every kind of claim that strangers' clients make past the service has a record and an event, each once, with whose share it was. */
import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import BN from 'bn.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { EarnedAmountsRecord, PoolEarnings } from '../../src/api/pool-earnings.ts'
import { readDbcPool } from '../../src/chain/programs/dbc/index.ts'
import { localFetch } from '../../src/localnet/fetch.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { insertPool } from '../../src/store/resources/pools.ts'
import { insertToken } from '../../src/store/resources/tokens.ts'
import { addSurplus } from '../support/dbc.ts'
import { type ForeignCurve, openForeignCurve } from '../support/foreign-curve.ts'
import { SOL } from '../support/local-chain.ts'
import { embeddedNode, testNode } from '../support/node.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import {
  addressOf,
  type ChainAndNode,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
} from '../support/pool-platform.ts'
import { startReceiver } from '../support/receiver.ts'
import { inSoak } from '../support/runs.ts'
import { makeKey } from '../support/service.ts'
import { signWith } from '../support/wallets.ts'
import { actsOn } from './acts.ts'

const TOKEN = {
  ...({ mint: 'So11111111111111111111111111111111111111112', status: 'created', token_program: 'spl' } as const),
  ...{ raw_json: '{}', external_uid: null, metadata_json: null },
}

interface ClaimRecord {
  quote: string | null
  sol: string | null
  received: object[] | null
  pool_address: string
  kind: string
  beneficiary: string | null
  claimer: string
  signature: string
}

describe.skipIf(lackingPrograms.length > 0)(`claims past the service (${lackingPrograms.join(', ')})`, () => {
  let opened: ChainAndNode
  /** The chain of all tests, with a platform wallet of each one's own. */
  let base: ChainAndNode
  beforeAll(async () => {
    opened = await openChainAndNode()
  })
  beforeEach(() => {
    base = { ...opened, wallet: Keypair.generate() }
    base.chain.airdrop(addressOf(base.wallet), 10_000n * SOL)
  })
  afterAll(() => opened?.close())

  it.skipIf(!inSoak)(
    "of a curve's creator in the first half minute of an embedded chain are found",
    { tags: 'sampled' },
    async () => {
      const service = await startPlatform(null)
      const acts = await actsOn(service, 'past')
      const rpc = createRpc(acts.chain, { onError: () => undefined })
      const fetch = localFetch(rpc) as typeof globalThis.fetch
      const connection = testNode('http://embedded.test', { fetch, commitment: 'processed' })
      const [creator, trader] = [Keypair.generate(), Keypair.generate()]
      for (const key of [creator, trader]) acts.chain.airdrop(addressOf(key), 100n * SOL)
      const curve = await openForeignCurve(acts.chain, connection, { partner: service.wallet, creator, trader })
      const genesis = await service.services.chain.genesisHash()
      const row = rowOf(curve, { creator: addressOf(creator), genesis, now: service.clock.now() })
      await service.services.store.write((tx) => insertPool(tx, row))
      const rounds = async (count: number) => {
        for (let n = 0; n < count; n++) {
          acts.pass(3)
          await acts.round()
        }
      }
      await rounds(2)
      await curve.trade(SOL / 10n)
      await rounds(1)
      curve.land(await curve.claims.creatorFees(), creator)
      await rounds(15)
      expect((await service.request('GET', '/v2/fee-claims')).json.data).toMatchObject([{ beneficiary: 'creator' }])
    },
  )

  async function scene({ isOfPlatform = false, isRecorded = true } = {}) {
    const platform = await openPlatform(base, {
      settings: { 'pools.crank': false, 'webhooks.allow-private': true } as never,
    })
    const { services, request } = platform
    const local = async () => base.chain
    const acts = await actsOn(
      { request, services: { ...services, chain: { ...services.chain, local } }, clock: base.clock },
      'past',
    )
    const connection = embeddedNode(base.chain)
    const [creator, trader] = [isOfPlatform ? base.wallet : Keypair.generate(), Keypair.generate()]
    for (const key of [creator, trader]) base.chain.airdrop(addressOf(key), 1_000n * SOL)
    const partner = base.wallet
    const curve = await openForeignCurve(base.chain, connection, { partner, creator, trader })
    const genesis = await services.chain.genesisHash()
    const row = rowOf(curve, { creator: addressOf(creator), genesis, now: base.clock.now() })
    const record = () =>
      services.store.write((tx) =>
        insertPool(tx, { ...row, next_check_at: base.clock.now(), created_at: base.clock.now() }),
      )
    if (isRecorded) await record()
    await acts.settle(2)
    const claims = async (query = ''): Promise<ClaimRecord[]> =>
      (await request('GET', `/v2/fee-claims?limit=100${query}`)).json.data
    const told = async () => {
      const parties = {
        [addressOf(partner)]: 'PARTNER',
        [addressOf(creator)]: 'CREATOR',
        [addressOf(trader)]: 'TRADER',
      }
      const pools = { [curve.pool]: 'curve', [curve.dammPool]: 'pool' }
      return (await claims())
        .map(
          ({ pool_address, kind, beneficiary, claimer }) =>
            `${pools[pool_address]} ${kind} of ${beneficiary} by ${parties[claimer] ?? claimer}`,
        )
        .reverse()
    }
    const verify = async () => {
      const missing: object[] = []
      const extra: object[] = []
      for (let cursor = ''; ; ) {
        const { data } = (await request('GET', `/v2/event-verification?since=0&until=99999999999${cursor}`)).json
        missing.push(...data.missing)
        extra.push(...data.extra)
        if (data.next_cursor === null) return { missing, extra }
        cursor = `&cursor=${data.next_cursor}`
      }
    }
    return { platform, request, acts, connection, partner, creator, trader, curve, claims, told, verify, record }
  }

  it('are reported once each, of every kind and party, and the verification finds no fault', async () => {
    const { platform, request, acts, connection, partner, creator, trader, curve, claims, told, verify } = await scene()
    const { land, trade, claims: of } = curve
    await trade(SOL / 10n)
    await acts.settle(1)
    land(await of.creatorFees(), creator)
    await acts.settle(1)
    // Nothing is left, and such a claim is none.
    land(await of.creatorFees(), creator)
    await trade(SOL / 10n)
    const both = new Transaction().add(
      ...(await of.partnerFees()).instructions,
      ...(await of.creatorFees()).instructions,
    )
    const { signature } = land(both, partner, creator)
    land(await of.creationFee(), partner)
    await trade(5n * SOL)
    addSurplus(base, (await readDbcPool(connection, curve.pool))!, SOL)
    land(await of.partnerSurplus(), partner)
    land(await of.creatorSurplus(), creator)
    land(await of.partnerMigrationFee(), partner)
    land(await of.creatorMigrationFee(), creator)
    await curve.migrate()
    await acts.settle(2)
    land(await of.leftover(), trader)
    await curve.tradeMigrated(SOL)
    land(await of.positions(partner), partner)
    land(await of.positions(creator), creator)
    acts.pass(3 * 86_400)
    land(of.vested(), creator)
    await acts.settle(6)
    expect(new Set(await told())).toEqual(
      new Set([
        'curve dbc of creator by CREATOR',
        'curve dbc of partner by PARTNER',
        'curve pool_creation_fee of partner by PARTNER',
        'curve surplus of partner by PARTNER',
        'curve surplus of creator by CREATOR',
        'curve migration_fee of partner by PARTNER',
        'curve migration_fee of creator by CREATOR',
        'curve leftover of partner by PARTNER',
        'pool damm_v2 of partner by PARTNER',
        'pool damm_v2 of creator by CREATOR',
        'curve vesting of creator by CREATOR',
      ]),
    )
    const all = await claims()
    expect(all).toHaveLength(12)
    expect(
      all
        .filter((each) => each.signature === signature)
        .map(({ beneficiary }) => beneficiary)
        .sort(),
    ).toEqual(['creator', 'partner'])
    expect(await claims('&beneficiary=creator')).toHaveLength(6)
    expect(await claims('&kind=dbc&beneficiary=creator')).toHaveLength(2)
    expect((await request('GET', `/v2/pools/${curve.pool}/fee-claims?kind=vesting`)).json.data).toHaveLength(1)
    const events = (await acts.events()).filter(({ type }) => type.startsWith('fee_claim.'))
    expect(events).toHaveLength(12)
    expect(events.find(({ data }) => data.object.kind === 'vesting')!.data.object).toMatchObject({
      ...{ beneficiary: 'creator', claimer: addressOf(creator), source: 'chain', resource_id: curve.pool },
    })
    await acts.settle(3)
    expect(await claims()).toHaveLength(12)
    expect(await verify()).toEqual({ missing: [], extra: [] })
    await platform.close()
  })

  it.skipIf(!inSoak)(
    'of the platform wallet are recorded once if the daemon was down since before the migration',
    { tags: 'sampled' },
    async () => {
      const { platform, request, acts, partner, creator, curve, claims, told, verify } = await scene()
      const receiver = await startReceiver()
      const body = { url: receiver.url, enabled_events: ['fee_claim.executed'] }
      expect((await request('POST', '/v2/webhook-subscriptions', { body })).status).toBe(201)
      await curve.trade(5n * SOL)
      await curve.migrate()
      await curve.tradeMigrated(SOL)
      const own = curve.land(await curve.claims.positions(partner), partner)
      await curve.tradeMigrated(SOL)
      const both = curve.land(
        new Transaction().add(
          ...[await curve.claims.positions(partner), await curve.claims.partnerFees()].flatMap((made) =>
            Array.isArray(made) ? made : made.instructions,
          ),
        ),
        partner,
      )
      curve.land(await curve.claims.positions(creator), creator)
      await acts.settle(8)
      const expected = [
        'curve dbc of partner by PARTNER',
        'pool damm_v2 of creator by CREATOR',
        'pool damm_v2 of partner by PARTNER',
        'pool damm_v2 of partner by PARTNER',
      ]
      expect((await told()).sort()).toEqual(expected)
      const partners = (await claims('&kind=damm_v2&beneficiary=partner')).map(({ signature }) => signature)
      expect(partners.sort()).toEqual([own.signature, both.signature].sort())
      await deliverRound(platform.services)
      expect(receiver.all).toHaveLength(4)
      const ledger = await ledgerVerified(request)
      expect(ledger).toEqual({ faults: [], unread: [], waiting: 0 })
      for (const { quote, sol, received } of await claims('&kind=damm_v2')) {
        expect([Number(quote) > 0, Number(sol) > 0, received?.length]).toEqual([true, true, 1])
      }
      expect(await verify()).toEqual({ missing: [], extra: [] })
      await acts.settle(3)
      expect(await claims()).toHaveLength(4)
      await platform.close()
    },
  )

  it.skipIf(!inSoak)(
    'made before the migration is seen have their pool, amounts and beneficiary',
    { tags: 'sampled' },
    async () => {
      const { platform, request, acts, creator, curve, claims, verify } = await scene()
      await curve.trade(5n * SOL)
      await curve.migrate()
      await curve.tradeMigrated(SOL)
      const body = { kind: 'damm_v2', beneficiary: 'creator', payer: addressOf(creator) }
      const { status, json, text } = await request('POST', `/v2/pools/${curve.dammPool}/fee-claims`, { body })
      expect(status, text).toBe(200)
      expect(json.data).toMatchObject({ pool_address: curve.dammPool, claimer: addressOf(creator) })
      const { tx, tracked_resource } = json.data
      const claim = { transaction: signWith(tx.transaction, [creator]), tracked_resource }
      expect((await request('POST', '/v2/transactions', { body: claim })).status).toBe(200)
      acts.pass(20)
      await followTransactions(acts.services)
      expect(await claims()).toMatchObject([{ kind: 'damm_v2', beneficiary: 'creator' }])
      await acts.settle(2)
      expect((await request('GET', '/v2/ledger')).status).toBe(200)
      const [known] = await claims()
      expect([Number(known!.quote) > 0, Number(known!.sol) > 0, known!.received?.length]).toEqual([true, true, 1])
      const events = (await acts.events()).filter(({ type }) => /^pool\.migra|^fee_claim/.test(type))
      expect(events.map(({ type, data }) => [type, data.object.beneficiary])).toEqual([
        ['pool.migration_triggered', undefined],
        ['pool.migrated', undefined],
        ['fee_claim.executed', 'creator'],
      ])
      expect(await verify()).toEqual({ missing: [], extra: [] })
      await platform.close()
    },
  )

  it.skipIf(!inSoak)(
    'submitted before a round has seen the migration are complete once the pool has a record',
    { tags: 'sampled' },
    async () => {
      const { platform, request, acts, creator, curve, claims, verify } = await scene()
      await curve.trade(5n * SOL)
      await curve.migrate()
      await curve.tradeMigrated(SOL)
      const made = await curve.claims.positions(creator)
      const transaction = Array.isArray(made) ? new Transaction().add(...made) : made
      transaction.feePayer = creator.publicKey
      transaction.recentBlockhash = base.chain.latestBlockhash().blockhash
      transaction.sign(creator)
      await acts.submit(transaction.serialize())
      for (let round = 0; round < 2; round++) {
        acts.pass(20)
        await followTransactions(acts.services)
        await writeLedger(platform.services)
      }
      expect(await claims()).toMatchObject([{ beneficiary: null, quote: null, received: null }])
      // One look takes all steps.
      await followPools(acts.services)
      expect((await request('GET', '/v2/pools?type=damm_v2')).json.data).toHaveLength(1)
      await writeLedger(platform.services)
      expect(await claims()).toMatchObject([{ beneficiary: 'creator', quote: expect.any(String), received: [{}] }])
      await acts.settle(3)
      expect(await verify()).toEqual({ missing: [], extra: [] })
      expect(await ledgerVerified(request)).toEqual({ faults: [], unread: [], waiting: 0 })
      await platform.close()
    },
  )

  it.skipIf(!inSoak)(
    'of vested tokens by the platform wallet are recorded once the lock is known to belong to a pool here',
    { tags: 'sampled' },
    async () => {
      const { platform, acts, curve, claims, verify, record } = await scene({ isOfPlatform: true, isRecorded: false })
      // Something to follow the platform wallet for.
      await platform.services.store.write((tx) => insertToken(tx, { ...TOKEN, created_at: base.clock.now() }))
      await acts.settle(1)
      await curve.trade(5n * SOL)
      await curve.migrate()
      acts.pass(3 * 86_400)
      curve.land(curve.claims.vested(), base.wallet)
      await acts.settle(3)
      expect(await claims()).toEqual([])
      await record()
      await acts.settle(6)
      expect((await claims()).map(({ kind, beneficiary }) => `${kind} of ${beneficiary}`)).toEqual([
        'vesting of creator',
      ])
      expect((await acts.events()).filter(({ type }) => type === 'fee_claim.executed')).toHaveLength(1)
      expect(await verify()).toEqual({ missing: [], extra: [] })
      await platform.close()
    },
  )

  it.skipIf(!inSoak)(
    'follow the role of the creator, which is in the record of the pool',
    { tags: 'sampled' },
    async () => {
      const { platform, request, acts, creator, curve, told, verify } = await scene()
      const next = Keypair.generate()
      base.chain.airdrop(addressOf(next), SOL)
      const { land, trade, client, claims: of } = curve
      await trade(SOL / 10n)
      land(await of.creatorFees(new BN(1_000)), creator)
      const handing = { pool: new PublicKey(curve.pool), creator: creator.publicKey, newCreator: next.publicKey }
      land(await client.creator.transferPoolCreator(handing), creator)
      await acts.settle(2)
      expect((await request('GET', `/v2/pools/${curve.pool}`)).json.data.creator).toBe(addressOf(next))
      land(await of.creatorFees(new BN(2_000), next), next)
      await trade(SOL / 10n)
      await acts.settle(4)
      expect(await told()).toEqual(['curve dbc of creator by CREATOR', `curve dbc of creator by ${addressOf(next)}`])
      expect(await verify()).toEqual({ missing: [], extra: [] })
      await platform.close()
    },
  )

  it.skipIf(!inSoak)(
    'follow the role of the creator if its transfers are seen out of order',
    { tags: 'sampled' },
    async () => {
      const { platform, request, acts, creator, curve } = await scene()
      const [second, third] = [Keypair.generate(), Keypair.generate()]
      for (const key of [second, third]) base.chain.airdrop(addressOf(key), SOL)
      const handing = (from: Keypair, to: Keypair) =>
        curve.client.creator.transferPoolCreator({
          ...{ pool: new PublicKey(curve.pool), creator: from.publicKey, newCreator: to.publicKey },
        })
      const recorded = async () => (await request('GET', `/v2/pools/${curve.pool}`)).json.data.creator
      // The service follows what it has sent within seconds, and finds later what was sent past it.
      curve.land(await handing(creator, second), creator)
      const sent = await handing(second, third)
      sent.feePayer = second.publicKey
      sent.recentBlockhash = base.chain.latestBlockhash().blockhash
      sent.sign(second)
      await acts.submit(sent.serialize())
      acts.pass(3)
      await followTransactions(acts.services)
      expect(await recorded()).toBe(addressOf(third))
      await acts.settle(4)
      expect(await recorded()).toBe(addressOf(third))
      await platform.close()
    },
  )

  it.skipIf(!inSoak)("are the partner's if no round has followed their signer yet", { tags: 'sampled' }, async () => {
    const { platform, acts, request, curve, partner, claims } = await scene()
    await curve.trade(5n * SOL)
    await curve.migrate()
    await acts.settle(2)
    await curve.tradeMigrated(SOL)
    await platform.services.store.write((tx) => tx.deleteFrom('followed_accounts').execute())
    const made = await curve.claims.positions(partner)
    const transaction = Array.isArray(made) ? new Transaction().add(...made) : made
    transaction.feePayer = partner.publicKey
    transaction.recentBlockhash = base.chain.latestBlockhash().blockhash
    transaction.sign(partner)
    await acts.submit(transaction.serialize())
    acts.pass(3)
    await followTransactions(acts.services)
    expect((await request('GET', '/v2/fee-claims')).status).toBe(200)
    expect((await claims('&kind=damm_v2')).map(({ beneficiary }) => beneficiary)).toEqual(['partner'])
    await platform.close()
  })

  it.skipIf(!inSoak)(
    'of two parties in one submitted transaction are two, also when the chain shows it again',
    { tags: 'sampled' },
    async () => {
      const { platform, request, acts, partner, creator, curve, claims, verify } = await scene()
      await curve.trade(SOL / 10n)
      const { partnerFees, creatorFees } = curve.claims
      const both = new Transaction().add(...(await partnerFees()).instructions, ...(await creatorFees()).instructions)
      both.feePayer = partner.publicKey
      both.recentBlockhash = base.chain.latestBlockhash().blockhash
      both.sign(partner, creator)
      const related_events = ['fee_claim.executed']
      const tracked_resource = { resource_type: 'pool', resource_id: curve.pool, related_events }
      const body = { transaction: both.serialize().toString('base64'), tracked_resource }
      expect((await request('POST', '/v2/transactions', { body })).status).toBe(200)
      await acts.settle(4)
      expect((await claims()).map(({ beneficiary }) => beneficiary)).toEqual(['creator', 'partner'])
      const events = (await acts.events()).filter(({ type }) => type.startsWith('fee_claim.'))
      expect(events.map(({ data }) => [data.object.beneficiary, data.object.source])).toEqual([
        ['partner', 'chain'],
        ['creator', 'chain'],
      ])
      // Once the ledger has read them, each party's share is known for itself, as the records add up to the counters.
      const { claimed } = (await earned(request, curve.pool)).trading_fees!.quote
      const before = await Promise.all(['partner', 'creator'].map((party) => tradingFeesOf(request, curve.pool, party)))
      expect(before.map((amounts) => amounts.claimed)).toEqual([null, null])
      expect((await request('GET', '/v2/ledger')).status).toBe(200)
      const after = await Promise.all(['partner', 'creator'].map((party) => tradingFeesOf(request, curve.pool, party)))
      expect(after.map((amounts) => amounts.claimable)).toEqual(['0', '0'])
      expect(after.map((amounts) => amounts.accrued)).toEqual(after.map((amounts) => amounts.claimed))
      expect(String(after.reduce((sum, amounts) => sum + BigInt(amounts.claimed!), 0n))).toBe(claimed)
      expect(BigInt(after[1]!.claimed!)).toBe((BigInt(claimed!) * 37n) / 100n)
      expect(await verify()).toEqual({ missing: [], extra: [] })
      await platform.close()
    },
  )

  /** A transfer to the creator, which any stranger can send at any rate. */
  const floodOf =
    ({ curve, creator, trader }: Pick<Awaited<ReturnType<typeof scene>>, 'curve' | 'creator' | 'trader'>) =>
    (transfers: number) => {
      for (let n = 0; n < transfers; n++) {
        const lamports = 1_000_000 + n
        const to = { fromPubkey: trader.publicKey, toPubkey: creator.publicKey, lamports }
        curve.land(new Transaction().add(SystemProgram.transfer(to)), trader)
      }
    }
  const callsOf = (method: string) => base.node.asked.get(method) ?? 0

  // That a busy creator's history is not searched without a claim is in every run, below.
  it.skipIf(!inSoak)(
    'of the partner are found without reading the history of a very active creator',
    { tags: 'sampled' },
    async () => {
      const all = await scene()
      const { platform, acts, partner, creator, curve, claims, verify } = all
      const flood = floodOf(all)
      const rounds = async (n: number) => {
        for (let i = 0; i < n; i++) {
          acts.pass(6)
          // Of what takes place all the time the newest is never final.
          flood(8)
          await acts.round()
        }
      }
      await curve.trade(SOL / 10n)
      await rounds(2)
      const before = callsOf('getTransaction')
      curve.land(await curve.claims.partnerFees(), partner)
      await rounds(14)
      expect(await claims()).toHaveLength(1)
      expect(callsOf('getTransaction') - before).toBeLessThanOrEqual(3)
      const listed = callsOf('getSignaturesForAddress')
      await rounds(4)
      // Only the platform wallet is listed still.
      expect(callsOf('getSignaturesForAddress') - listed).toBeLessThanOrEqual(4)
      const read = callsOf('getTransaction')
      curve.land(await curve.claims.creatorFees(), creator)
      await rounds(10)
      expect((await claims()).map(({ beneficiary }) => beneficiary)).toEqual(['creator', 'partner'])
      expect(callsOf('getTransaction') - read).toBeLessThanOrEqual(3)
      await acts.settle(3)
      expect(await verify()).toEqual({ missing: [], extra: [] })
      await platform.close()
    },
  )

  it("are given up in a creator's history that is too long, and the verification then names them", async () => {
    const all = await scene()
    const { platform, acts, creator, curve, claims, verify } = all
    await curve.trade(SOL / 10n)
    await acts.settle(2)
    curve.land(await curve.claims.creatorFees(), creator)
    floodOf(all)(70)
    const before = callsOf('getSignaturesForAddress')
    const round = async () => {
      acts.pass(20)
      await reconcileRecords(acts.services, { pageSize: 6 })
    }
    await round()
    await round()
    // Ten pages of the wallet, one of the curve for each, and those of the platform wallet.
    expect(callsOf('getSignaturesForAddress') - before).toBeLessThanOrEqual(22)
    const listed = callsOf('getSignaturesForAddress')
    for (let n = 0; n < 4; n++) await round()
    expect(callsOf('getSignaturesForAddress') - listed).toBeLessThanOrEqual(4)
    expect(await claims()).toEqual([])
    expect((await verify()).missing).toMatchObject([{ type: 'fee_claim.executed', resource_id: curve.pool }])
    await platform.close()
  })

  it.skipIf(!inSoak)(
    "are searched in a busy creator's history only if the curve shows a claim",
    { tags: 'sampled' },
    async () => {
      const { platform, acts, creator, trader, curve, claims } = await scene()
      const transfer = () =>
        new Transaction().add(
          SystemProgram.transfer({ fromPubkey: trader.publicKey, toPubkey: creator.publicKey, lamports: 1_000_000 }),
        )
      const asked = () =>
        ['getSignaturesForAddress', 'getTransaction'].map((method) => base.node.asked.get(method) ?? 0)
      for (let n = 0; n < 20; n++) curve.land(transfer(), trader)
      await curve.trade(SOL / 10n)
      await acts.settle(1)
      const [listings, reads] = asked()
      for (let n = 0; n < 5; n++) {
        curve.land(transfer(), trader)
        await curve.trade(SOL / 100n)
        await acts.settle(2)
      }
      // Only the platform wallet's history is listed, which none of these name.
      expect(asked()[0]! - listings!).toBeLessThanOrEqual(10)
      expect(asked()[1]).toBe(reads)
      curve.land(await curve.claims.creatorFees(), creator)
      await acts.settle(2)
      expect(await claims()).toHaveLength(1)
      // What happened before the last look that showed nothing is not read.
      expect(asked()[1]! - reads!).toBeLessThanOrEqual(8)
      await platform.close()
    },
  )

  describe('that the follower sees late or never', () => {
    const isClaim = ({ type }: { type: string }) => type === 'fee_claim.executed'
    const entries = async (request: Requests, signature: string): Promise<{ account: string; amount: string }[]> =>
      (await request('GET', `/v2/ledger?limit=100&signature=${signature}`)).json.data

    it('are all reported if the index of signatures lags eight seconds behind the accounts', async () => {
      const { platform, request, acts, creator, trader, curve, claims } = await scene()
      base.node.indexLag = 20
      onTestFinished(() => {
        base.node.indexLag = 0
      })
      const signatures: string[] = []
      const to = { fromPubkey: trader.publicKey, toPubkey: creator.publicKey, lamports: 1_000_000 }
      for (let n = 0; n < 20; n++) {
        await curve.trade(SOL / 100n)
        // The first listing after the claim shows this transfer only.
        curve.land(new Transaction().add(SystemProgram.transfer({ ...to, lamports: to.lamports + n })), trader)
        acts.pass(14)
        signatures.push(curve.land(await curve.claims.creatorFees(), creator).signature)
        for (const seconds of [1, 20, 70]) {
          acts.pass(seconds)
          await acts.round()
        }
      }
      await acts.settle(8)
      while ((await writeLedger(acts.services)) > 0);
      expect((await claims()).map(({ signature }) => signature).toSorted()).toEqual(signatures.toSorted())
      expect((await acts.events()).filter(isClaim)).toHaveLength(20)
      for (const signature of signatures) expect(await entries(request, signature), signature).not.toEqual([])
      await platform.close()
    })

    /** Moves what the follower knows past everything that has happened, as if it had seen it. */
    const lose = async ({ services }: Pick<Awaited<ReturnType<typeof scene>>['platform'], 'services'>) => {
      base.clock.advance(60_000)
      const seen = { seen_slot: base.chain.slot() - 1, seen_signature: null, before_signature: null }
      await services.store.write((tx) => tx.updateTable('followed_accounts').set(seen).execute())
    }

    it('are brought back once, with record, event and entries, by a repair of the events', async () => {
      const { platform, request, acts, creator, curve, claims, verify } = await scene()
      await curve.trade(SOL / 10n)
      await acts.settle(3)
      const { signature } = curve.land(await curve.claims.creatorFees(), creator)
      await lose(platform)
      await acts.settle(6)
      expect([await claims(), (await verify()).missing]).toMatchObject([
        [],
        [{ type: 'fee_claim.executed', resource_id: curve.pool, signature }],
      ])
      const reader = await makeKey(platform.services)
      const body = { since: 0, until: 99_999_999_999 }
      expect((await request('POST', '/v2/event-repairs', { body, key: reader })).status).toBe(403)
      expect((await repaired(request, '/v2/event-repairs', body)).repaired).toMatchObject([
        { type: 'fee_claim.executed', resource_type: 'pool', resource_id: curve.pool, signature },
      ])
      const [claim, ...others] = await claims()
      expect([claim, others]).toMatchObject([{ signature, beneficiary: 'creator', kind: 'dbc' }, []])
      expect((await acts.events()).filter(isClaim)).toHaveLength(1)
      const moved = await entries(request, signature)
      expect(moved.filter(({ amount }) => amount === claim!.quote)).not.toEqual([])
      expect(moved.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(0n)
      expect(await repaired(request, '/v2/event-repairs', body)).toEqual({ repaired: [], missing: [], unread: [] })
      expect(await repaired(request, '/v2/ledger/repairs', {})).toMatchObject({ repaired: [], unread: [] })
      expect((await ledgerVerified(request)).faults).toEqual([])
      await acts.settle(2)
      expect([await claims(), await verify()]).toEqual([[claim], { missing: [], extra: [] }])
      expect(await entries(request, signature)).toEqual(moved)
      await platform.close()
    })

    it('leave no gap in the ledger after its repair, to the lamport', async () => {
      const { platform, request, acts, partner, trader, curve } = await scene()
      const pay = (lamports: number) => {
        const to = { fromPubkey: trader.publicKey, toPubkey: partner.publicKey, lamports }
        return curve.land(new Transaction().add(SystemProgram.transfer(to)), trader).signature
      }
      pay(1)
      await acts.settle(4)
      while ((await writeLedger(acts.services)) > 0);
      const signature = pay(123_456_789)
      await lose(platform)
      pay(2)
      await acts.settle(6)
      while ((await writeLedger(acts.services)) > 0);
      const missing = { signature, account: addressOf(partner), token: 'SOL', reason: 'missing' }
      const { faults } = await ledgerVerified(request)
      expect(faults.filter((fault) => (fault as typeof missing).reason === 'missing')).toMatchObject([missing])
      const reader = await makeKey(platform.services)
      expect((await request('POST', '/v2/ledger/repairs', { body: {}, key: reader })).status).toBe(403)
      const torn = await request('POST', '/v2/ledger/repairs', { body: { cursor: 'history.' } })
      expect([torn.status, torn.json.error.param]).toEqual([400, 'cursor'])
      expect((await repaired(request, '/v2/ledger/repairs', {})).repaired).toEqual([signature])
      expect(await ledgerVerified(request)).toEqual({ faults: [], unread: [], waiting: 0 })
      expect((await entries(request, signature)).map(({ amount }) => amount)).toContain('123456789')
      expect(await repaired(request, '/v2/ledger/repairs', {})).toEqual({ repaired: [], missing: [], unread: [] })
      await platform.close()
    })
  })
})

type Requests = Awaited<ReturnType<typeof openPlatform>>['request']

/** Every step of one pass of a repair. */
async function repaired(request: Requests, path: string, body: object) {
  const found = { repaired: [] as object[], missing: [] as object[], unread: [] as object[] }
  for (let next: { cursor?: string } = {}; ; ) {
    const { status, json, text } = await request('POST', path, { body: { ...body, ...next } })
    expect(status, text).toBe(200)
    for (const name of ['repaired', 'missing', 'unread'] as const) found[name].push(...(json.data[name] ?? []))
    if (json.data.next_cursor === null) return found
    next = { cursor: json.data.next_cursor }
  }
}

/** A record of the curve, as if it had been launched here. */
const rowOf = (
  { pool, config, mint }: ForeignCurve,
  { creator, genesis, now }: { creator: string; genesis: string; now: number },
): Parameters<typeof insertPool>[1] => ({
  ...{ type: 'dbc', status: 'live', address: pool, config, creator },
  ...{ base_mint: mint.toBase58(), quote_mint: 'So11111111111111111111111111111111111111112' },
  ...{ name: 'Coin', symbol: 'COIN', metadata_uri: null, preset: null, migrated_to: null, dbc_pool: null },
  ...{ crank_signing: null, crank_signature: null, crank_failures: 0, submitted_at: null, external_uid: null },
  ...{ genesis, next_check_at: now, metadata_json: null, created_at: now },
})

/** Steps of the comparison of the ledger with the chain, until its end. */
async function ledgerVerified(request: Requests) {
  const found = { faults: [] as object[], unread: [] as object[], waiting: 0 }
  for (let cursor = ''; ; ) {
    const { data } = (await request('GET', `/v2/ledger/verification${cursor}`)).json
    found.faults.push(...data.faults)
    found.unread.push(...data.unread)
    found.waiting += data.waiting
    if (data.next_cursor === null) return found
    cursor = `?cursor=${data.next_cursor}`
  }
}

const earned = async (request: Requests, pool: string): Promise<PoolEarnings> =>
  (await request('GET', `/v2/pools/${pool}/earnings`)).json.data

async function tradingFeesOf(request: Requests, pool: string, party: string): Promise<EarnedAmountsRecord> {
  const { sources } = (await earned(request, pool)).parties.find((each) => each.party === party)!
  return sources.find(({ kind }) => kind === 'dbc')!.quote!
}
