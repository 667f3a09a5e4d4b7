/** One migration for each full pool, by whichever daemon comes first and whatever becomes of it; and pools that are given up. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { dbcChangesIn } from '../src/chain/programs/dbc/index.ts'
import { SignerUnavailable } from '../src/chain/signer/index.ts'
import type { Services } from '../src/context.ts'
import { followPools } from '../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { guardsOfMessage } from '../src/solana/guards.ts'
import { BLOCKHASH_LIFE_MS } from '../src/solana/lifetimes.ts'
import { decodeWireTransaction } from '../src/solana/messages.ts'
import { findPool, replaceCrank } from '../src/store/resources/pools.ts'
import { startPostgres } from './store/postgres-server.ts'
import { endingOnceSigned, signingBy } from './support/dying-signer.ts'
import { SOL } from './support/local-chain.ts'
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
} from './support/pool-platform.ts'
import { inSoak, runs } from './support/runs.ts'
import { keypairOf, signWith } from './support/wallets.ts'

const MINUTE_MS = 60_000

interface Until {
  services?: Services
  /** Milliseconds between two ticks. */
  step?: number
}

const postgres = await startPostgres()

describe.skipIf(lackingPrograms.length > 0)(`the crank (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  const [creator, trader] = [Keypair.generate(), Keypair.generate()]

  beforeAll(async () => {
    base = await openChainAndNode()
    for (const key of [creator, trader]) base.chain.airdrop(addressOf(key), 10_000n * SOL)
    base.clock.advance(1_000)
  })
  afterAll(async () => {
    base?.close()
  })

  /** A daemon that ends with the test. */
  async function daemon(options: PlatformOptions = {}): Promise<Platform> {
    const platform = await openPlatform(base, options)
    onTestFinished(() => platform.close())
    return platform
  }

  const statusOf = async ({ request }: Platform, pool: string): Promise<string> =>
    (await request('GET', `/v2/pools/${pool}`)).json.data.status
  const eventsOf = async ({ request }: Platform, pool: string): Promise<string[]> =>
    (await request('GET', '/v2/events?order=asc&limit=100')).json.data
      .filter(({ data }: { data: { object: { resource_id: string } } }) => data.object.resource_id === pool)
      .map(({ type }: { type: string }) => type)

  async function built({ request }: Platform, symbol: string, preset = 'tiny') {
    const body = { creator: addressOf(creator), name: 'A token', symbol, image: IMAGE, preset }
    const { status, json } = await request('POST', '/v2/pools', { body })
    expect([status, json.error]).toEqual([201, undefined])
    const { pool, transactions, required_signers } = json.data
    const keys = [required_signers.base_mint_secret_key, required_signers.config_secret_key].map(keypairOf)
    const [transaction] = transactions.map((text: string) => signWith(text, [creator, ...keys]))
    return { address: pool.address as string, mint: pool.base_mint as string, transaction: transaction as string }
  }

  const land = (transaction: string) => {
    expect(base.chain.send(Buffer.from(transaction, 'base64')).err).toBeNull()
    base.clock.advance(1_000)
  }

  async function fill({ request }: Platform, pool: string) {
    const body = { payer: addressOf(trader), side: 'buy', amount: String(5n * SOL) }
    const { json } = await request('POST', `/v2/pools/${pool}/swaps`, { body })
    land(signWith(json.data.tx.transaction, [trader]))
  }

  /** A pool whose curve is full, and of which the daemon knows no more than that it was launched. */
  async function full(platform: Platform, symbol: string, preset = 'tiny') {
    const pool = await built(platform, symbol, preset)
    land(pool.transaction)
    await fill(platform, pool.address)
    return pool
  }

  /** Those that landed, with an error or without, by their step. */
  const migrationsOf = (pool: string) =>
    base.landed.flatMap(({ raw, err }) =>
      dbcChangesIn(decodeWireTransaction(raw).message)
        .filter((change) => change.kind === 'migration' && change.pool === pool)
        .map((change) => [change.kind === 'migration' && change.step, err]),
    )

  async function tick(services: Services, milliseconds = 10_000) {
    base.clock.advance(milliseconds)
    await followTransactions(services)
    await followPools(services)
  }

  async function until(platform: Platform, pool: string, status: string, { services, step }: Until = {}) {
    for (let i = 0; i < 60; i++) {
      if ((await statusOf(platform, pool)) === status) return
      await tick(services ?? platform.services, step)
    }
    expect(await statusOf(platform, pool)).toBe(status)
  }

  const signingsOf = ({ services }: Platform, operation: string) =>
    services.store.db
      .selectFrom('signings')
      .select(['id', 'state', 'signature'])
      .where('operation', '=', operation)
      .orderBy('seq')
      .execute()

  const allow = (platform: Platform) => setPolicy(platform, RICH)

  it.skipIf('missing' in postgres)('of two daemons on one database sends each step of each pool once', async () => {
    const settings = {
      'postgres.pool-timeout-ms': 60_000,
      'database-url': 'missing' in postgres ? '' : await postgres.createMigratedDatabase(),
      'encryption-key': Buffer.alloc(32, 7).toString('base64'),
    }
    const daemons = [await daemon({ settings }), await daemon({ settings })] as const
    const [one, two] = daemons
    const names = ['tiny', 'vested', 'tiny']
    const pools: Awaited<ReturnType<typeof full>>[] = []
    for (const [i, preset] of names.entries()) pools.push(await full(daemons[i % 2]!, `TWO${i}`, preset))
    await allow(one)
    for (let i = 0; i < 20; i++) {
      base.clock.advance(i % 3 === 0 ? 500 : 6_000)
      const rounds = daemons.flatMap(({ services }) => [
        followPools(services),
        followTransactions(services),
        followPools(services),
      ])
      await Promise.all(rounds)
    }
    for (const [i, { address }] of pools.entries()) {
      await until(two, address, 'migrated')
      const steps = names[i] === 'vested' ? ['create_locker', 'migrate'] : ['migrate']
      expect(migrationsOf(address)).toEqual(steps.map((step) => [step, null]))
      expect((await eventsOf(two, address)).filter((type) => type !== 'pool.created')).toEqual([
        'pool.live',
        'pool.migration_triggered',
        'pool.migrated',
      ])
    }
    const signed = await signingsOf(one, 'pool.migrate')
    expect(signed.map(({ state }) => state)).toEqual(names.map(() => 'signed'))
    const after = (await one.request('GET', '/v2/pools?type=damm_v2')).json.data
    expect(after.length).toBe(pools.length)
    // One that built a step which the other's landed before: it would fail, and is not signed.
    const expected = /Refused by the rule (simulation|unstable)/
    const errors = daemons.flatMap(({ logged }) => logged.filter(({ level }) => level === 'error'))
    expect(errors.filter(({ fields }) => !expected.test(String(fields.err)))).toEqual([])
    expect((await two.request('GET', '/v2/audit-verification')).json.data.intact).toBe(true)
  })

  it.skipIf(!inSoak).each([
    ['at once', 0],
    ['after its blockhash has expired', 5 * MINUTE_MS],
  ])(
    'whose provider fails without saying whether it signed ends the same signing %s',
    { tags: 'sampled' },
    async (_, pause) => {
      const platform = await daemon()
      await allow(platform)
      const { address } = await full(platform, 'PROV')
      const failing = await signingBy(platform.services, async () => {
        throw new SignerUnavailable('the provider did not answer in time', 'unknown')
      })
      for (let i = 0; i < 12; i++) await tick(failing)
      const [intended, ...others] = await signingsOf(platform, 'pool.migrate')
      expect([intended?.state, others]).toEqual(['intended', []])
      expect([await statusOf(platform, address), migrationsOf(address)]).toEqual(['migration_triggered', []])
      base.clock.advance(pause)
      await until(platform, address, 'migrated')
      expect(migrationsOf(address)).toEqual([['migrate', null]])
      const [first, ...later] = await signingsOf(platform, 'pool.migrate')
      expect([first!.id, first!.state]).toEqual([intended!.id, 'signed'])
      expect(later.length).toBeLessThanOrEqual(1)
      for (const { state } of later) {
        // Only what can land no more is made anew.
        expect([state, base.chain.transaction(first!.signature!)]).toEqual(['signed', null])
      }
    },
  )

  it('that stops between the signature and its storage makes the same signature again', async () => {
    const platform = await daemon()
    await allow(platform)
    const { address } = await full(platform, 'KILL')
    const { made, isKilled, dying, living } = await endingOnceSigned(platform.services)
    for (let i = 0; i < 5 && !isKilled(); i++) await tick(dying).catch(() => undefined)
    expect([isKilled(), migrationsOf(address)]).toEqual([true, []])
    await until(platform, address, 'migrated', { services: living })
    expect(migrationsOf(address)).toEqual([['migrate', null]])
    expect(made.length).toBe(2)
    expect(made[1]).toBe(made[0])
    expect((await signingsOf(platform, 'pool.migrate')).map(({ state }) => state)).toEqual(['signed'])
  })

  it('that another daemon goes on with after the round has written the pool is left to that daemon', async () => {
    const platform = await daemon()
    await allow(platform)
    const { address } = await full(platform, 'LATE')
    const { store } = platform.services
    let isTaken = false
    const write: typeof store.write = async (work) => {
      const result = await store.write(work)
      const row = isTaken ? null : await findPool(store.db, address)
      if (row?.status === 'migration_triggered') {
        isTaken = true
        await store.write((tx) => replaceCrank(tx, address, row.crank_signing, 'sgn_of_another_daemon'))
      }
      return result
    }
    const overtaken = { ...platform.services, store: { ...store, write } }
    for (let i = 0; i < 5 && !isTaken; i++) await tick(overtaken)
    expect([isTaken, migrationsOf(address), await signingsOf(platform, 'pool.migrate')]).toEqual([true, [], []])
    await until(platform, address, 'migrated')
    expect(migrationsOf(address)).toEqual([['migrate', null]])
  })

  it('whose transactions do not reach the node makes no second one before the first has expired', {
    tags: 'sampled',
  }, async () => {
    const platform = await daemon()
    await allow(platform)
    const { address } = await full(platform, 'DROP')
    base.node.decide = (method) => (method === 'sendTransaction' ? 'dropped send' : undefined)
    onTestFinished(() => {
      base.node.decide = () => undefined
    })
    for (let i = 0; i < 9; i++) await tick(platform.services)
    expect((await signingsOf(platform, 'pool.migrate')).length).toBe(1)
    // However long that lasts: what expired was no failure of the migration.
    for (let i = 0; i < runs(60, 260); i++) await tick(platform.services, MINUTE_MS)
    const dropped = await signingsOf(platform, 'pool.migrate')
    expect(dropped.length).toBeGreaterThan(runs(3, 10))
    expect(migrationsOf(address)).toEqual([])
    base.node.decide = () => undefined
    await until(platform, address, 'migrated', { step: MINUTE_MS })
    expect(migrationsOf(address)).toEqual([['migrate', null]])
    const ends = await platform.services.store.db
      .selectFrom('transactions')
      .select(['lifecycle', 'err_json'])
      .where(
        'signature',
        'in',
        dropped.slice(0, -1).map(({ signature }) => signature!),
      )
      .execute()
    for (const end of ends) expect(end).toEqual({ lifecycle: 'failed', err_json: '"BlockhashExpired"' })
  })

  it('that the policy refuses leaves the pool unchanged, logs that, and continues once it is allowed', async () => {
    const platform = await daemon()
    const { address } = await full(platform, 'POLICY')
    for (let i = 0; i < 20; i++) await tick(platform.services)
    expect([await statusOf(platform, address), migrationsOf(address)]).toEqual(['migration_triggered', []])
    expect(await signingsOf(platform, 'pool.migrate')).toEqual([])
    const refused = platform.logged.filter(({ fields }) => fields.pool === address && fields.err !== undefined)
    expect(refused.length).toBeGreaterThan(1)
    expect(String(refused[0]!.fields.err)).toMatch(/lamports_per_transaction.*svc signer policy/)
    const reported: unknown[] = []
    while (reported.length === 0) {
      base.clock.advance(10_000)
      await followPools(platform.services, { report: (error) => void reported.push(error) })
    }
    expect(String(reported[0])).toContain(`pool ${address}: Refused by the rule lamports_per_transaction`)
    const waiting = async () => (await platform.request('GET', `/v2/pools/${address}`)).json.data.migration
    expect(await waiting()).toMatchObject({ sent_here: true, next_try_at: expect.any(String) })
    expect((await waiting()).failures).toBeGreaterThan(1)
    // A changed policy is tried at once, without waiting for the time of the next attempt.
    await setPolicy(platform, RICH)
    await followPools(platform.services)
    expect(await signingsOf(platform, 'pool.migrate')).toHaveLength(1)
    await until(platform, address, 'migrated')
    expect(await waiting()).toBeUndefined()
    expect(migrationsOf(address)).toEqual([['migrate', null]])
    expect((await eventsOf(platform, address)).filter((type) => type === 'pool.migrated')).toHaveLength(1)
  })

  it('migrates in a transaction that has room for the guards, if the policy requires them', async () => {
    const platform = await daemon()
    const pool = await full(platform, 'GUARDED')
    await setPolicy(platform, { ...RICH, guards: 'required' })
    await until(platform, pool.address, 'migrated')
    const messages = base.landed.map(({ raw }) => decodeWireTransaction(raw).message)
    const [migration] = messages.filter((message) =>
      dbcChangesIn(message).some((change) => change.kind === 'migration' && change.pool === pool.address),
    )
    const { guards } = guardsOfMessage(migration!)
    expect(guards.map(({ address }) => address)).toContain(addressOf(base.wallet))
    expect(migration!.config).not.toBeNull()
  })

  it('that is off migrates nothing, and notices migrations by others', async () => {
    const settings = { 'pools.crank': false }
    const [off, on] = [await daemon({ settings }), await daemon()]
    await allow(on)
    const { address } = await full(off, 'OFF')
    for (let i = 0; i < 5; i++) await tick(off.services)
    expect([await statusOf(off, address), migrationsOf(address)]).toEqual(['migration_triggered', []])
    const { json } = await off.request('GET', `/v2/pools/${address}`)
    expect(json.data.migration).toEqual({ sent_here: false, failures: 0, next_try_at: null, refusal: null })
    const row = await off.services.store.db.selectFrom('pools').selectAll().executeTakeFirstOrThrow()
    const { seq: _, ...copy } = row
    await on.services.store.write((tx) => tx.insertInto('pools').values(copy).execute())
    await until(on, address, 'migrated')
    await until(off, address, 'migrated')
    expect(migrationsOf(address)).toEqual([['migrate', null]])
    expect((await eventsOf(off, address)).at(-1)).toBe('pool.migrated')
  })

  it('gives up a pool that is never submitted after its minutes', async () => {
    const platform = await daemon()
    const { address } = await built(platform, 'NEVER')
    const born = base.clock.now()
    // The transactions could be used for two minutes; five more are the setting.
    while (base.clock.now() < born + 7 * MINUTE_MS - 10_000) await tick(platform.services, 5_000)
    expect(await statusOf(platform, address)).toBe('pending')
    await tick(platform.services, 15_000)
    expect(await statusOf(platform, address)).toBe('failed')
    expect(await eventsOf(platform, address)).toEqual(['pool.created', 'pool.failed'])
  })

  /** The only transaction of a launch is submitted, and its node drops it. */
  async function dropped(platform: Platform, symbol: string) {
    const { address, transaction } = await built(platform, symbol)
    base.node.decide = (method) => (method === 'sendTransaction' ? 'dropped send' : undefined)
    onTestFinished(() => {
      base.node.decide = () => undefined
    })
    const body = {
      transaction,
      tracked_resource: { resource_type: 'pool', resource_id: address, related_events: ['pool.live'] },
    }
    const { status, json } = await platform.request('POST', '/v2/transactions', { body })
    expect(status).toBe(200)
    const read = async () => (await platform.request('GET', `/v2/transactions/${json.data.signature}`)).json.data
    return { address, transaction, read }
  }

  it.skipIf(!inSoak)(
    'still finds a pool whose transaction lands in its last possible slots',
    { tags: 'sampled' },
    async () => {
      const platform = await daemon()
      const { address, transaction } = await dropped(platform, 'LATE')
      for (let i = 0; i < 11; i++) await tick(platform.services, 5_000)
      expect(await statusOf(platform, address)).toBe('pending')
      land(transaction)
      base.node.decide = () => undefined
      await until(platform, address, 'live')
      for (let i = 0; i < 60; i++) await tick(platform.services)
      expect(await statusOf(platform, address)).toBe('live')
      expect(await eventsOf(platform, address)).toEqual(['pool.created', 'pool.live'])
    },
  )

  /** The pool is given up five minutes after the end, and not before. */
  async function expectGivenUp(platform: Platform, pool: string, end: number) {
    while (base.clock.now() < end + 5 * MINUTE_MS - 10_000) await tick(platform.services, 5_000)
    expect(await statusOf(platform, pool)).toBe('pending')
    for (let i = 0; i < 8; i++) await tick(platform.services, 5_000)
    expect(await statusOf(platform, pool)).toBe('failed')
  }

  it.skipIf(!inSoak)(
    'counts the minutes from the proven end of a submission that never landed',
    { tags: 'sampled' },
    async () => {
      const platform = await daemon()
      const { address, read } = await dropped(platform, 'EXPIRE')
      for (let i = 0; i < 60 && (await read()).lifecycle !== 'failed'; i++) {
        base.chain.airdrop(addressOf(creator), SOL)
        await tick(platform.services, 5_000)
      }
      expect(await read()).toMatchObject({ lifecycle: 'failed', err: 'BlockhashExpired', absence: 'proven' })
      await expectGivenUp(platform, address, base.clock.now())
    },
  )

  it.skipIf(!inSoak)(
    'counts the minutes from the end of the blockhash of a submission that nothing proves to be in no block',
    { tags: 'sampled' },
    async () => {
      const platform = await daemon()
      const { address, read } = await dropped(platform, 'UNSEEN')
      await expectGivenUp(platform, address, base.clock.now() + BLOCKHASH_LIFE_MS)
      expect(await read()).toMatchObject({ lifecycle: 'submitted', err: null, absence: 'unproven' })
    },
  )
})
