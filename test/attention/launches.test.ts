/** Launches, migrations and fee schedules that need a person: each cause is made on the real programs, seen, and dealt with. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { createSchedule, creator, scheduleSetting, trader } from '../fee-schedules/setting.ts'
import { SOL } from '../support/local-chain.ts'
import {
  addressOf,
  type ChainAndNode,
  IMAGE,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
  type Platform,
  type PlatformOptions,
  RICH,
  setPolicy,
} from '../support/pool-platform.ts'
import { itInSoak } from '../support/runs.ts'
import { keypairOf, signWith } from '../support/wallets.ts'
import { listed, only, subjectsOf } from './listed.ts'

describe.skipIf(lackingPrograms.length > 0)(`the list, of launches (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  let at: ReturnType<typeof scheduleSetting>

  beforeAll(async () => {
    base = await openChainAndNode()
    at = scheduleSetting(base)
    for (const key of [creator, trader]) base.chain.airdrop(addressOf(key), 10_000n * SOL)
    base.clock.advance(1_000)
  })
  afterAll(() => base?.close())

  async function daemon(options: PlatformOptions = {}): Promise<Platform> {
    const platform = await openPlatform(base, options)
    onTestFinished(() => platform.close())
    return platform
  }
  async function tick({ services }: Platform, milliseconds = 10_000) {
    base.clock.advance(milliseconds)
    await followTransactions(services)
    await followPools(services).catch(() => {})
  }
  /** A migration as anybody sends it. */
  async function migrate({ request }: Platform, pool: string, payer: Keypair) {
    const { json, text } = await request('POST', `/v2/pools/${pool}/migrations`, { body: { payer: addressOf(payer) } })
    const { transactions, transaction, required_signers = {} } = json.data.tx ?? json.data
    const keys = Object.values(required_signers as Record<string, number[]>).map(keypairOf)
    expect(transactions ?? transaction, text).toBeDefined()
    for (const each of transactions ?? [transaction]) at.land(signWith(each, [payer, ...keys]))
  }

  it('names a full curve that nobody migrates, and its cost, until somebody has migrated it', async () => {
    const platform = await daemon({ settings: { 'pools.crank': false } })
    const { address } = await at.launch(platform, 'FULL')
    await at.trade(platform, address, 5n * SOL)
    await tick(platform)
    expect(await listed(platform, 'pool_full')).toEqual([])
    await tick(platform, 11 * MINUTE_MS)
    const item = await only(platform, 'pool_full')
    expect(item).toMatchObject({
      subject: { type: 'pool', id: address },
      summary: expect.stringMatching(
        /^The curve of FULL \(.*\) is full and has not migrated\. Any wallet may migrate it/,
      ),
      command: `svc pools migrate ${address}`,
      page: `/console/launches/${address}`,
    })
    const payer = Keypair.generate()
    base.chain.airdrop(addressOf(payer), SOL)
    await migrate(platform, address, payer)
    const paid = Number(SOL - (base.chain.account(addressOf(payer))?.lamports ?? 0n)) / Number(SOL)
    expect(item.summary).toContain(`pays about ${paid.toFixed(3)} SOL.`)
    await tick(platform)
    expect(await listed(platform, 'pool_full')).toEqual([])
  })

  itInSoak(
    'names a migration that the policy refuses, since its first failure, until the policy allows it',
    async () => {
      const platform = await daemon()
      const { address } = await at.launch(platform, 'REFUSED')
      await at.trade(platform, address, 5n * SOL)
      for (let round = 0; round < 3; round++) await tick(platform)
      const item = await only(platform, 'migration_failed')
      expect(item).toMatchObject({
        subject: { type: 'pool', id: address },
        summary: expect.stringMatching(/^The migration of .* waits, and is tried again at .*: .*policy/),
        command: `svc pools migrate ${address}`,
      })
      for (let round = 0; round < 3; round++) await tick(platform, 2 * MINUTE_MS)
      expect((await only(platform, 'migration_failed')).since).toBe(item.since)
      expect(await listed(platform, 'pool_full')).toEqual([])
      await setPolicy(platform, RICH)
      for (let round = 0; round < 4; round++) await tick(platform)
      expect(await listed(platform, 'migration_failed')).toEqual([])
    },
  )

  it('names a launch of which only the first transaction landed, until its pool is live', async () => {
    const platform = await daemon()
    const body = {
      creator: addressOf(creator),
      name: 'Half',
      symbol: 'HALF',
      image: IMAGE,
      buy_amount: 0.5,
      preset: 'vested',
    }
    const { json } = await platform.request('POST', '/v2/pools', { body })
    const { pool, transactions, required_signers, tracked_resource } = json.data
    expect(transactions).toHaveLength(2)
    const keys = [required_signers.base_mint_secret_key, required_signers.config_secret_key].map(keypairOf)
    const submit = (transaction: string, more = {}) =>
      platform.request('POST', '/v2/transactions', {
        body: { transaction: signWith(transaction, [creator, ...keys]), ...more },
      })
    expect((await submit(transactions[0])).status).toBe(200)
    await tick(platform)
    expect(await listed(platform, 'launch_unfinished')).toEqual([])
    const item = async () => {
      base.clock.advance(11 * MINUTE_MS)
      return only(platform, 'launch_unfinished')
    }
    expect(await item()).toMatchObject({
      subject: { type: 'pool', id: pool.address },
      summary: expect.stringMatching(/^The launch of HALF \(.*\) stopped half-way: .* goes on if it is run again\.$/),
      command: `svc pools verify ${pool.address}`,
    })
    const { json: fresh } = await platform.request('POST', '/v2/transactions/refresh', {
      body: { transactions: [transactions[1]], generated_keys: json.data.generated_keys },
    })
    const second = await submit(fresh.data?.transactions[0] ?? transactions[1], { tracked_resource })
    expect([second.status, second.json.error]).toEqual([200, undefined])
    await tick(platform)
    expect(await listed(platform, 'launch_unfinished')).toEqual([])
  })

  it('names a schedule that the paused signer or the policy stopped, until a run claims', async () => {
    const platform = await daemon()
    await setPolicy(platform, RICH)
    const { address } = await at.launch(platform, 'FEES')
    await at.trade(platform, address)
    const id = await createSchedule(platform)
    expect(await listed(platform, 'schedule_stopped')).toEqual([])
    await platform.request('POST', '/v2/signer/pauses', { body: { reason: 'holidays' } })
    at.nextHour()
    await at.round(platform.services)
    expect(await only(platform, 'schedule_stopped')).toMatchObject({
      subject: { type: 'fee_schedule', id },
      summary: expect.stringMatching(/waits, and is tried again at .*: the signer is paused: `svc signer resume`\.$/),
      command: `svc fees schedule run ${id}`,
    })
    await platform.request('POST', '/v2/signer/resumptions', { body: {} })
    await setPolicy(platform, { lamports_per_transaction: '0' })
    at.nextHour()
    await at.round(platform.services)
    expect((await only(platform, 'schedule_stopped')).summary).toContain('policy')
    await setPolicy(platform, RICH)
    await platform.request('POST', `/v2/fee-schedules/${id}/runs`, { body: {} })
    await at.round(platform.services)
    expect(await subjectsOf(platform, 'schedule_stopped')).toEqual([])
  })
})
