/** Fee schedules against the real programs: each period once, each claim once, and what was not claimed is reported. */
import { Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { EVENT_TYPES } from '../../src/api/event-types.ts'
import { runFeeSchedules } from '../../src/operations/fee-schedules/run-schedules.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { guardsOfMessage } from '../../src/solana/guards.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { endingOnceSigned, signingBy } from '../support/dying-signer.ts'
import { SOL } from '../support/local-chain.ts'
import {
  addressOf,
  type ChainAndNode,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
  type Platform,
  type PlatformOptions,
  RICH,
  setPolicy,
} from '../support/pool-platform.ts'
import { inSoak } from '../support/runs.ts'
import { createSchedule, creator, eventsOf, HOUR_MS, runsOf, scheduleSetting, trader } from './setting.ts'

const postgres = await startPostgres()

describe.skipIf(lackingPrograms.length > 0)(`a fee schedule (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  let at: ReturnType<typeof scheduleSetting>

  beforeAll(async () => {
    base = await openChainAndNode()
    at = scheduleSetting(base)
    for (const key of [creator, trader]) base.chain.airdrop(addressOf(key), 10_000n * SOL)
    base.clock.advance(1_000)
  })
  afterAll(async () => {
    base?.close()
  })

  async function daemon(options: PlatformOptions = {}): Promise<Platform> {
    const platform = await openPlatform(base, options)
    onTestFinished(() => platform.close())
    return platform
  }
  async function rich(options: PlatformOptions = {}): Promise<Platform> {
    const platform = await daemon(options)
    await setPolicy(platform, RICH)
    return platform
  }
  const owed = async ({ request }: Platform, pool: string): Promise<string> =>
    (await request('GET', `/v2/pools/${pool}/fee-metrics`)).json.data.partner_quote_fee
  const lamportsOf = (address: string) => base.chain.account(address)?.lamports ?? 0n
  const signingsOf = ({ services }: Platform) =>
    services.store.db
      .selectFrom('signings')
      .select(['id', 'state', 'signature'])
      .where('operation', '=', 'fee_claim.create')
      .orderBy('seq')
      .execute()

  it('claims every pool that has enough at its period, once, and its run reports the others', async () => {
    const platform = await rich()
    const [one, poor, idle] = [
      await at.launch(platform, 'ONE'),
      await at.launch(platform, 'POOR'),
      await at.launch(platform, 'IDLE'),
    ]
    await at.trade(platform, one.address)
    await at.trade(platform, poor.address, SOL / 1_000n)
    const amount = await owed(platform, one.address)
    const schedule = await createSchedule(platform, { threshold: '100000', externalUid: 'treasury' })
    await at.round(platform.services)
    expect(await runsOf(platform, schedule)).toEqual([])
    at.nextHour()
    const period = new Date(base.clock.now() - (base.clock.now() % HOUR_MS)).toISOString()
    for (let i = 0; i < 3; i++) await at.round(platform.services)
    const [run, ...others] = await runsOf(platform, schedule)
    expect(others).toEqual([])
    expect(run).toMatchObject({
      schedule_id: schedule,
      scheduled_at: period,
      status: 'done',
      reason: null,
      missed: null,
      pools: 3,
      claimed: 1,
      claims: [{ pool_address: one.address, kind: 'dbc', estimated_quote: amount, estimated_lamports: null }],
      skips: { below_threshold: 1, nothing_to_claim: 1 },
      skipped: [
        { pool_address: poor.address, reason: 'below_threshold' },
        { pool_address: idle.address, reason: 'nothing_to_claim', estimated_quote: '0' },
      ],
      external_uid: 'treasury',
    })
    expect([await owed(platform, one.address), Number(await owed(platform, poor.address)) > 0]).toEqual(['0', true])
    const all = (await platform.request('GET', '/v2/events?limit=100')).json.data
    expect(all.filter(({ type }: { type: string }) => !EVENT_TYPES.includes(type as never))).toEqual([])
    const [claim] = await eventsOf(platform, 'fee_claim.executed')
    expect([claim.data.object.signature, claim.external_uid]).toEqual([run.claims[0].signature, 'treasury'])
    const audit = (await platform.request('GET', '/v2/audit-entries?limit=100')).json.data
    const signed = audit.find(({ action }: { action: string }) => action === 'signing.signed')
    expect([signed.api_key_id, signed.request_id]).toEqual(['worker:fee-schedules', run.id])
  })

  it('splits what it claims among ten in a transaction that has room for the guards, if the policy requires them', async () => {
    const platform = await rich()
    const pool = await at.launch(platform, 'SPLIT')
    await at.trade(platform, pool.address, SOL)
    await setPolicy(platform, { guards: 'required' })
    const recipients = Array.from({ length: 10 }, () => addressOf(Keypair.generate()))
    for (const recipient of recipients) base.chain.airdrop(recipient, SOL)
    const schedule = await createSchedule(platform, {
      threshold: '100000',
      splits: recipients.map((recipient) => ({ recipient, bps: 1_000 })),
    })
    at.nextHour()
    for (let i = 0; i < 3; i++) await at.round(platform.services)
    const [run] = await runsOf(platform, schedule)
    const found = run.claims.find(({ pool_address }: { pool_address: string }) => pool_address === pool.address)
    const { message } = decodeWireTransaction(base.chain.transaction(found.signature)!.raw)
    const { guards } = guardsOfMessage(message)
    expect([guards[0]?.address, message.config === null]).toEqual([addressOf(base.wallet), false])
    for (const recipient of recipients) expect(lamportsOf(recipient)).toBeGreaterThan(SOL)
  })

  it('never claims less than the fee and the rent that it costs, whatever its threshold', async () => {
    const platform = await rich()
    const [dust, small] = [await at.launch(platform, 'DUST'), await at.launch(platform, 'SMAL')]
    // The partner is owed 400 and 80,000 lamports; the rent of a token account is 2,039,280.
    await at.trade(platform, dust.address, 50_000n)
    await at.trade(platform, small.address, SOL / 100n)
    const schedule = await createSchedule(platform, { kinds: ['dbc'] })
    const before = lamportsOf(addressOf(base.wallet))
    at.nextHour()
    for (let i = 0; i < 2; i++) await at.round(platform.services)
    const [run] = await runsOf(platform, schedule)
    expect(run).toMatchObject({ claimed: 1, skips: { below_threshold: 1 } })
    expect(run.claims[0].pool_address).toBe(small.address)
    expect(run.skipped[0].pool_address).toBe(dust.address)
    expect(run.skipped[0].message).toMatch(/^The claim pays [\d.]+ SOL and costs [\d.]+ SOL: /)
    expect(lamportsOf(addressOf(base.wallet))).toBeGreaterThan(before)
    const kept = await platform.services.store.db.selectFrom('signings').select('state').execute()
    expect(kept.map(({ state }) => state)).toEqual(['signed'])
  })

  it('pays splits in the claim, to the lamport', async () => {
    const platform = await rich()
    const pool = await at.launch(platform, 'SPLT')
    await at.trade(platform, pool.address)
    const amount = BigInt(await owed(platform, pool.address))
    const recipients = [addressOf(creator), addressOf(trader)]
    const before = recipients.map((address) => lamportsOf(address))
    await createSchedule(platform, {
      splits: recipients.map((recipient, i) => ({ recipient, bps: i === 0 ? 7_500 : 2_500 })),
      filter: { pools: [pool.address] },
    })
    at.nextHour()
    for (let i = 0; i < 2; i++) await at.round(platform.services)
    const paid = recipients.map((address, i) => lamportsOf(address) - before[i]!)
    expect(paid[0]! + paid[1]!).toBe(amount)
    expect(paid[0]! >= (amount * 3n) / 4n).toBe(true)
  })

  it.skipIf(!inSoak)(
    'of several kinds claims each kind of a migrated launch once, with its positions',
    { tags: 'sampled' },
    async () => {
      const platform = await rich()
      const pool = await at.launch(platform, 'MIGR')
      await at.trade(platform, pool.address, 5n * SOL)
      const recordOf = async () =>
        (await platform.request('GET', '/v2/pools?type=damm_v2&limit=100')).json.data.find(
          ({ base_mint }: { base_mint: string }) => base_mint === pool.mint,
        )
      for (let i = 0; i < 20 && (await recordOf()) === undefined; i++) {
        base.clock.advance(10_000)
        await followTransactions(platform.services)
        await followPools(platform.services)
      }
      const { address: migrated } = await recordOf()
      await at.trade(platform, migrated, SOL)
      const kinds = ['dbc', 'surplus', 'migration_fee', 'damm_v2']
      const schedule = await createSchedule(platform, { kinds })
      at.nextHour()
      for (let i = 0; i < 3; i++) await at.round(platform.services)
      const [run] = await runsOf(platform, schedule)
      expect(run).toMatchObject({ status: 'done', pools: 1, skips: { nothing_to_claim: 2 } })
      const told = run.claims.map((claim: Record<string, string>) => [claim.kind, claim.pool_address])
      expect(told).toEqual([
        ['dbc', pool.address],
        ['damm_v2', migrated],
      ])
      for (const { estimated_quote } of run.claims) expect(BigInt(estimated_quote)).toBeGreaterThan(0n)
      const recorded = (await platform.request('GET', '/v2/fee-claims')).json.data
      expect(recorded.map(({ signature }: { signature: string }) => signature).toSorted()).toEqual(
        run.claims.map(({ signature }: { signature: string }) => signature).toSorted(),
      )
      at.nextHour()
      for (let i = 0; i < 2; i++) await at.round(platform.services)
      expect((await runsOf(platform, schedule))[0]).toMatchObject({ claimed: 0, skips: { nothing_to_claim: 4 } })
    },
  )

  it('has one run for all missed periods, and names them', async () => {
    const platform = await rich()
    const schedule = await createSchedule(platform)
    at.nextHour()
    const first = base.clock.now() - (base.clock.now() % HOUR_MS)
    base.clock.advance(5 * HOUR_MS)
    for (let i = 0; i < 3; i++) await at.round(platform.services)
    const [run, ...others] = await runsOf(platform, schedule)
    const iso = (n: number) => new Date(first + n * HOUR_MS).toISOString()
    expect(others).toEqual([])
    expect(run).toMatchObject({ scheduled_at: iso(5), missed: { count: 5, from: iso(0), until: iso(4) } })
    const { next_run_at } = (await platform.request('GET', `/v2/fee-schedules/${schedule}`)).json.data
    expect(next_run_at).toBe(iso(6))
  })

  it.skipIf(!inSoak)('runs each period once, however the clock is moved', { tags: 'sampled' }, async () => {
    const platform = await rich()
    const schedule = await createSchedule(platform)
    let offset = 0
    const services = { ...platform.services, clock: { now: () => base.clock.now() + offset } }
    const seen = new Set<string>()
    // Ahead by a year and by days, back again, and behind.
    for (const moved of [0, 365 * 24, 0, 48, -5, 0, -30, 2, 0, 0, 0]) {
      offset = moved * HOUR_MS
      at.nextHour()
      for (let i = 0; i < 2; i++) await runFeeSchedules(services)
      for (const { scheduled_at } of await runsOf(platform, schedule)) seen.add(scheduled_at)
    }
    const runs = await runsOf(platform, schedule)
    expect(new Set(runs.map(({ scheduled_at }: { scheduled_at: string }) => scheduled_at)).size).toBe(runs.length)
    // However far ahead the clock has been, the hours of the right one have theirs.
    const lastHour = new Date(base.clock.now() - (base.clock.now() % HOUR_MS)).toISOString()
    expect(seen.has(lastHour)).toBe(true)
  })

  it('signs nothing while the signer is paused or missing, and says why', async () => {
    const platform = await rich()
    const pool = await at.launch(platform, 'PAUS')
    await at.trade(platform, pool.address)
    const schedule = await createSchedule(platform)
    await platform.request('POST', '/v2/signer/pauses', { body: { reason: 'holidays' } })
    at.nextHour()
    await at.round(platform.services)
    await platform.request('POST', '/v2/signer/resumptions', { body: {} })
    at.nextHour()
    await at.round({ ...platform.services, signer: async () => null })
    const runs = await runsOf(platform, schedule)
    expect(runs.map(({ status, reason, pools }: Record<string, unknown>) => [status, reason, pools])).toEqual([
      ['skipped', 'no_signer', 0],
      ['skipped', 'signer_paused', 0],
    ])
    expect(await signingsOf(platform)).toEqual([])
  })

  it('continues with the other pools if the policy refuses one', async () => {
    const platform = await rich()
    const [opened, fresh] = [await at.launch(platform, 'OPEN'), await at.launch(platform, 'FRES')]
    await at.trade(platform, opened.address)
    // The shares of this one are more than the policy lets go.
    await at.trade(platform, fresh.address, SOL)
    await setPolicy(platform, { lamports_per_transaction: '1000000' })
    const splits = [creator, trader].map((key) => ({ recipient: addressOf(key), bps: 5_000 }))
    const schedule = await createSchedule(platform, { splits, filter: { pools: [fresh.address, opened.address] } })
    at.nextHour()
    for (let i = 0; i < 2; i++) await at.round(platform.services)
    const [run] = await runsOf(platform, schedule)
    expect(run).toMatchObject({ status: 'done', claimed: 1, skips: { policy: 1 } })
    expect(run.claims[0].pool_address).toBe(opened.address)
    expect(run.skipped[0]).toMatchObject({ pool_address: fresh.address, reason: 'policy' })
    expect(run.skipped[0].message).toContain('lamports_per_transaction')
    const { waiting } = (await platform.request('GET', '/v2/health/workers')).json.data
    const { message } = run.skipped[0]
    expect(waiting).toEqual([{ kind: 'fee_schedule', id: schedule, reason: message, next_try_at: expect.any(String) }])
  })

  it.skipIf(!inSoak)('leaves alone the pools whose fees are another wallet’s', { tags: 'sampled' }, async () => {
    const owner = await rich()
    const pool = await at.launch(owner, 'OWNR')
    await at.trade(owner, pool.address)
    const other = await rich({ settings: { 'platform-wallet': addressOf(creator) } })
    const elsewhere = await at.launch(other, 'ELSE')
    await at.trade(other, elsewhere.address)
    const schedule = await createSchedule(other, { filter: { pools: [elsewhere.address, pool.address] } })
    at.nextHour()
    for (let i = 0; i < 2; i++) await at.round(other.services)
    const [run] = await runsOf(other, schedule)
    expect([run.claimed, run.skips]).toEqual([1, { not_owner: 1 }])
  })

  it.skipIf(!inSoak)(
    'that dies after the provider signed, and before that is stored, makes the same signature again',
    { tags: 'sampled' },
    async () => {
      const platform = await rich()
      const pool = await at.launch(platform, 'KILL')
      await at.trade(platform, pool.address)
      const schedule = await createSchedule(platform, { filter: { pools: [pool.address] } })
      at.nextHour()
      const { made, isKilled, dying, living } = await endingOnceSigned(platform.services)
      await runFeeSchedules(dying).catch(() => undefined)
      expect([isKilled(), (await signingsOf(platform)).map(({ state }) => state)]).toEqual([true, ['intended']])
      for (let i = 0; i < 3; i++) await at.round(living)
      expect(made.length).toBe(2)
      expect(made[1]).toBe(made[0])
      const [run, ...others] = await runsOf(platform, schedule)
      expect([others, run.status, run.claimed]).toEqual([[], 'done', 1])
      expect((await signingsOf(platform)).map(({ state }) => state)).toEqual(['signed'])
    },
  )

  it.skipIf(!inSoak)(
    'waits while the node fails, gives up a pool whose signer fails again and again, and continues',
    { tags: 'sampled' },
    async () => {
      const platform = await rich()
      const [bad, good] = [await at.launch(platform, 'BADP'), await at.launch(platform, 'GOOD')]
      for (const { address } of [bad, good]) await at.trade(platform, address)
      const schedule = await createSchedule(platform, { filter: { pools: [bad.address, good.address] } })
      at.nextHour()
      base.node.decide = () => 'http 500'
      for (let i = 0; i < 3; i++) {
        await runFeeSchedules(platform.services)
        base.clock.advance(60_000)
      }
      base.node.decide = () => undefined
      let failing = true
      const services = await signingBy(platform.services, async (signer, message) => {
        if (failing) throw new Error('the provider is broken')
        return signer.sign(message)
      })
      for (let i = 0; i < 12 && failing; i++) {
        await runFeeSchedules(services)
        base.clock.advance(330_000)
        const failures = await platform.services.store.db
          .selectFrom('fee_schedule_runs')
          .select('failures')
          .executeTakeFirstOrThrow()
        if (failures.failures >= 6) failing = false
      }
      expect(failing).toBe(false)
      for (let i = 0; i < 3; i++) await at.round(services)
      const run = (await runsOf(platform, schedule)).at(-1)
      expect(run).toMatchObject({ status: 'done', claimed: 1, skips: { error: 1 } })
      expect([run.claims[0].pool_address, run.skipped[0].pool_address]).toEqual([good.address, bad.address])
    },
  )

  it.skipIf(!inSoak)(
    'ends its run when it is paused or removed, and signs nothing after that',
    { tags: 'sampled' },
    async () => {
      const platform = await rich()
      const pool = await at.launch(platform, 'STOP')
      await at.trade(platform, pool.address)
      const schedule = await createSchedule(platform)
      const ask = () => platform.request('POST', `/v2/fee-schedules/${schedule}/runs`, { body: {} })
      expect((await ask()).status).toBe(201)
      const twice = await ask()
      expect([twice.status, twice.json.error.code]).toEqual([400, 'bad_request'])
      const paused = await platform.request('PATCH', `/v2/fee-schedules/${schedule}`, { body: { active: false } })
      expect(paused.json.data).toMatchObject({ active: false, next_run_at: null })
      at.nextHour()
      await at.round(platform.services)
      expect(await signingsOf(platform)).toEqual([])
      expect((await ask()).status).toBe(201)
      expect((await platform.request('DELETE', `/v2/fee-schedules/${schedule}`, { body: {} })).status).toBe(200)
      await at.round(platform.services)
      expect(await signingsOf(platform)).toEqual([])
      const runs = await runsOf(platform, schedule)
      expect(runs.map(({ status, reason }: Record<string, unknown>) => [status, reason])).toEqual([
        ['stopped', 'schedule_deleted'],
        ['stopped', 'schedule_paused'],
      ])
      expect((await platform.request('GET', `/v2/fee-schedules/${schedule}`)).status).toBe(404)
    },
  )

  it('runs on request, in addition to its periods', async () => {
    const platform = await rich()
    const pool = await at.launch(platform, 'ASKD')
    await at.trade(platform, pool.address)
    const schedule = await createSchedule(platform, { active: false })
    const { json } = await platform.request('POST', `/v2/fee-schedules/${schedule}/runs`, {
      body: { externalUid: 'now' },
    })
    expect(json.data).toMatchObject({ status: 'running', scheduled_at: null, external_uid: 'now' })
    await at.round(platform.services)
    expect(await runsOf(platform, schedule)).toMatchObject([{ status: 'done', claimed: 1, scheduled_at: null }])
  })

  it.skipIf(!inSoak)(
    'over thousands of pools continues round by round, and delays no other',
    { tags: 'sampled' },
    async () => {
      const platform = await rich()
      const { store } = platform.services
      const genesis = await platform.services.chain.genesisHash()
      const rows = Array.from({ length: 5_000 }, (_, i) => ({
        address: new PublicKey(1_000_000 + i).toBase58(),
        type: 'dbc' as const,
        base_mint: 'mint',
        quote_mint: 'quote',
        config: null,
        creator: null,
        name: null,
        symbol: null,
        metadata_uri: null,
        status: 'live' as const,
        preset: 'many',
        migrated_to: null,
        dbc_pool: null,
        genesis,
        next_check_at: null,
        crank_signing: null,
        crank_signature: null,
        external_uid: null,
        metadata_json: null,
        created_at: 0,
      }))
      for (let from = 0; from < rows.length; from += 500) {
        await store.write((tx) =>
          tx
            .insertInto('pools')
            .values(rows.slice(from, from + 500))
            .execute(),
        )
      }
      const pool = await at.launch(platform, 'FAIR')
      await at.trade(platform, pool.address)
      const large = await createSchedule(platform, { filter: { preset: 'many' } })
      const small = await createSchedule(platform, { filter: { pools: [pool.address] } })
      at.nextHour()
      await runFeeSchedules(platform.services)
      const [first] = await runsOf(platform, large)
      expect([first.status, first.pools > 0, first.pools < 5_000]).toEqual(['running', true, true])
      expect(await runsOf(platform, small)).toMatchObject([{ status: 'done', claimed: 1 }])
      for (let i = 0; i < 5; i++) await at.round(platform.services)
      const [run] = await runsOf(platform, large)
      expect([run.status, run.pools, run.skips, run.skipped.length]).toEqual(['done', 5_000, { error: 5_000 }, 100])
    },
  )

  it.skipIf('missing' in postgres)('of two daemons on one database runs each period and each claim once', async () => {
    const settings = {
      'database-url': 'missing' in postgres ? '' : await postgres.createMigratedDatabase(),
      'encryption-key': Buffer.alloc(32, 7).toString('base64'),
    }
    const daemons = [await rich({ settings }), await daemon({ settings })] as const
    const [one] = daemons
    const pools = [await at.launch(one, 'TWOA'), await at.launch(one, 'TWOB'), await at.launch(one, 'TWOC')]
    const schedules = [await createSchedule(one), await createSchedule(one, { cron: '30 * * * *' })]
    for (let i = 0; i < 6; i++) {
      for (const { address } of pools) await at.trade(one, address, SOL / 50n)
      base.clock.advance(HOUR_MS / 2)
      await Promise.all(daemons.flatMap(({ services }) => [runFeeSchedules(services), runFeeSchedules(services)]))
      for (const { services } of daemons) await at.round(services)
    }
    const readRuns = async () => (await Promise.all(schedules.map((schedule) => runsOf(one, schedule)))).flat()
    // A round ends with its time, which is short for claims on a busy machine.
    for (let i = 0; i < 20 && (await readRuns()).some(({ status }) => status === 'running'); i++)
      await at.round(one.services)
    const runs = await readRuns()
    expect(runs.length).toBeGreaterThanOrEqual(5)
    expect(new Set(runs.map(({ schedule_id, scheduled_at }) => `${schedule_id} ${scheduled_at}`)).size).toBe(
      runs.length,
    )
    const claims = runs.flatMap((run) => run.claims.map((claim: object) => ({ run: run.id, ...claim })))
    const keys = claims.map(({ run, pool_address, kind }) => `${run} ${pool_address} ${kind}`)
    expect([keys.length >= 9, new Set(keys).size]).toEqual([true, keys.length])
    const signed = (await signingsOf(one)).filter(({ state }) => state === 'signed')
    expect(signed.map(({ signature }) => signature).toSorted()).toEqual(
      claims.map(({ signature }) => signature).toSorted(),
    )
    expect(runs.every(({ status }) => status === 'done')).toBe(true)
    expect((await one.request('GET', '/v2/audit-verification')).json.data.intact).toBe(true)
  })
})
