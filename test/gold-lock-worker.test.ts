/** Gold whose time comes: told once, by whichever daemon comes first, by the chain's clock, in few calls to the node. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Services } from '../src/context.ts'
import { followGoldLocks, GOLD_LOCK_ROUND_MS } from '../src/operations/gold-locks/follow-gold-locks.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { insertGoldLock } from '../src/store/resources/gold-locks.ts'
import { startPostgres } from './store/postgres-server.ts'
import { addressOf, createMint, DAY, give, lacksLock, type Mint } from './support/gold.ts'
import { SOL, someone } from './support/local-chain.ts'
import {
  type ChainAndNode,
  openChainAndNode,
  openPlatform,
  type Platform,
  type PlatformOptions,
} from './support/pool-platform.ts'
import { runs } from './support/runs.ts'
import { inVersion1, signV1 } from './support/version1.ts'
import { signWith } from './support/wallets.ts'

// Where everything is skipped nothing would stop it.
const postgres = lacksLock !== '' ? { missing: lacksLock } : await startPostgres()

describe.skipIf(lacksLock !== '')(`the worker of gold locks ${lacksLock}`, () => {
  let base: ChainAndNode
  let gold: Mint
  const [issuer, key] = [Keypair.generate(), Keypair.generate()]

  beforeAll(async () => {
    base = await openChainAndNode()
    base.chain.airdrop(addressOf(issuer), 10_000n * SOL)
    gold = createMint(base.chain, issuer, { key })
    base.clock.advance(1_000)
  })
  afterAll(() => base?.close())

  /** A daemon that ends with the test. */
  async function daemon({ settings = {}, ...options }: PlatformOptions = {}): Promise<Platform> {
    const platform = await openPlatform(base, { ...options, settings: { 'gold.mint': addressOf(key), ...settings } })
    onTestFinished(() => platform.close())
    return platform
  }

  /** A wallet with gold that it has locked; its record is there. */
  async function locked({ request, services }: Platform, lock_duration_days: number): Promise<Keypair> {
    const user = Keypair.generate()
    base.chain.airdrop(addressOf(user), SOL)
    give(base.chain, issuer, gold, user.publicKey, 1_000n)
    base.clock.advance(20_000)
    const body = { user: addressOf(user), platform_id: 'acme', amount: '400', lock_duration_days }
    const { json, text } = await request('POST', '/v2/gold-locks', { body })
    expect(json.data?.transaction, text).toBeDefined()
    await submit({ request, services }, user, json.data)
    return user
  }

  async function submit({ request, services }: Pick<Platform, 'request' | 'services'>, user: Keypair, built: Built) {
    const { transaction, tracked_resource } = built
    const body = { transaction: signWith(transaction, [user]), tracked_resource }
    const { status, text } = await request('POST', '/v2/transactions', { body })
    expect(status, text).toBe(200)
    base.clock.advance(20_000)
    await followTransactions(services)
  }
  interface Built {
    transaction: string
    tracked_resource: object
  }

  /** The row of a lock that has ended, and whose account is gone. */
  const goneLock = (signature: string, genesis: string) => ({
    ...{ escrow: someone().toBase58(), user: someone().toBase58(), mint: addressOf(key), amount: '1' },
    ...{ unlocks_at: base.clock.now() - 10_000, status: 'locked' as const, signature, slot: 1, genesis },
    ...{ next_check_at: null, external_uid: null, metadata_json: null, created_at: base.clock.now() },
  })

  interface Told {
    type: string
    data: { object: { status: string; slot: number; signature?: string } }
  }

  const eventsOf = async ({ request }: Platform, user: Keypair): Promise<string[]> =>
    (await request('GET', `/v2/events?order=asc&resource_type=gold_lock&resource_id=${addressOf(user)}`)).json.data.map(
      ({ type }: { type: string }) => type,
    )
  const askedFor = async (work: () => Promise<void>): Promise<Record<string, number>> => {
    base.node.asked.clear()
    await work()
    return Object.fromEntries(base.node.asked)
  }
  const later = (services: Services, milliseconds: number): Services => ({
    ...services,
    clock: { now: () => base.clock.now() + milliseconds },
  })

  it.skipIf('missing' in postgres)('of two daemons on one database reports each lock once', async () => {
    const settings = {
      'postgres.pool-timeout-ms': 60_000,
      'database-url': 'missing' in postgres ? '' : await postgres.createMigratedDatabase(),
      'encryption-key': Buffer.alloc(32, 7).toString('base64'),
    }
    const daemons = [await daemon({ settings }), await daemon({ settings })] as const
    const users: Keypair[] = []
    for (let i = 0; i < 6; i++) users.push(await locked(daemons[i % 2]!, 1 + (i % 3)))
    for (let day = 0; day < 3; day++) {
      base.clock.advance(DAY * 1000 - 60_000)
      for (let i = 0; i < 12; i++) {
        base.clock.advance(GOLD_LOCK_ROUND_MS)
        const rounds = daemons.flatMap(({ services }) => [followGoldLocks(services), followGoldLocks(services)])
        await Promise.all(rounds)
      }
    }
    for (const user of users) {
      expect(await eventsOf(daemons[0], user)).toEqual(['gold.locked', 'gold.unlock_eligible'])
    }
    const unlocked = users.slice(0, 3)
    for (const user of unlocked) {
      // Past the daemons: both come upon it at once.
      const body = { platform_id: 'acme' }
      const { json } = await daemons[0].request('DELETE', `/v2/gold-locks/${addressOf(user)}`, { body })
      expect(base.chain.send(Buffer.from(signWith(json.data.transaction, [user]), 'base64')).err).toBeNull()
    }
    base.clock.advance(2 * DAY * 1000)
    for (let i = 0; i < 3; i++) {
      await Promise.all(daemons.flatMap(({ services }) => [followGoldLocks(services), followGoldLocks(services)]))
    }
    for (const user of users) {
      const ends = unlocked.includes(user) ? ['gold.unlocked'] : []
      expect(await eventsOf(daemons[1], user)).toEqual(['gold.locked', 'gold.unlock_eligible', ...ends])
    }
    const { data } = (await daemons[0].request('GET', '/v2/gold-locks?status=unlocked')).json
    expect(data.map(({ user }: { user: string }) => user).sort()).toEqual(unlocked.map(addressOf).sort())
  })

  it.skipIf('missing' in postgres)(
    'of two daemons reports once that a lock is unlockable, before it reports the unlocking',
    async () => {
      const settings = {
        'postgres.pool-timeout-ms': 60_000,
        'database-url': 'missing' in postgres ? '' : await postgres.createMigratedDatabase(),
        'encryption-key': Buffer.alloc(32, 7).toString('base64'),
      }
      const daemons = [await daemon({ settings }), await daemon({ settings })] as const
      const [{ request }] = daemons
      const users: Keypair[] = []
      for (let i = 0; i < 4; i++) users.push(await locked(daemons[0], 1))
      base.clock.advance(DAY * 1000)
      for (const [i, user] of users.entries()) {
        const { json } = await request('DELETE', `/v2/gold-locks/${addressOf(user)}`, { body: { platform_id: 'acme' } })
        const transaction = signWith(json.data.transaction, [user])
        // Half of them elsewhere.
        if (i % 2 === 0) expect((await request('POST', '/v2/transactions', { body: { transaction } })).status).toBe(200)
        else expect(base.chain.send(Buffer.from(transaction, 'base64')).err).toBeNull()
      }
      for (let i = 0; i < 3; i++) {
        base.clock.advance(20_000)
        await Promise.all(daemons.flatMap(({ services }) => [followTransactions(services), followGoldLocks(services)]))
      }
      for (const user of users) {
        const { data } = (
          await request('GET', `/v2/events?order=asc&resource_type=gold_lock&resource_id=${addressOf(user)}`)
        ).json
        expect(
          data.map(({ type, data: { object } }: Told) => [
            type,
            object.status,
            object.slot > 0,
            typeof object.signature,
          ]),
        ).toEqual([
          ['gold.locked', 'locked', true, 'string'],
          ['gold.unlock_eligible', 'unlockable', true, 'undefined'],
          ['gold.unlocked', 'unlocked', true, 'string'],
        ])
      }
    },
  )

  it('is not stopped by a lock that it cannot follow, and reports that lock later', async () => {
    const platform = await daemon()
    const { services } = platform
    const users = [await locked(platform, 1), await locked(platform, 1), await locked(platform, 1)]
    const bad = addressOf(users[1]!)
    const rowOf = () => services.store.db.selectFrom('gold_locks').selectAll().where('user', '=', bad)
    const { created_at } = await rowOf().executeTakeFirstOrThrow()
    const write = (at: number) =>
      services.store.write((tx) =>
        tx.updateTable('gold_locks').set({ created_at: at }).where('user', '=', bad).execute(),
      )
    // No moment of any calendar.
    await write(8_640_000_000_000_001)
    base.clock.advance(DAY * 1000)
    await expect(followGoldLocks(services)).rejects.toThrow(/time value/)
    await followGoldLocks(services)
    const told = () => Promise.all(users.map((user) => eventsOf(platform, user)))
    const both = ['gold.locked', 'gold.unlock_eligible']
    expect(await told()).toEqual([both, ['gold.locked'], both])
    await write(created_at)
    base.clock.advance(60_000)
    await followGoldLocks(services)
    expect(await told()).toEqual([both, both, both])
  })

  it('uses the clock of the chain, however wrong its own clock is', async () => {
    const platform = await daemon()
    const { services } = platform
    const hour = 3_600_000
    const early = await locked(platform, 1)
    base.clock.advance(DAY * 1000 - 60_000)
    await followGoldLocks(later(services, hour))
    expect(await eventsOf(platform, early)).toEqual(['gold.locked'])
    base.clock.advance(60_000)
    await followGoldLocks(later(services, hour))
    expect(await eventsOf(platform, early)).toEqual(['gold.locked', 'gold.unlock_eligible'])
    const late = await locked(platform, 1)
    base.clock.advance(DAY * 1000)
    // Its own clock says that it is an hour too early: it is noticed all the same, within five minutes.
    for (let i = 0; i < 30; i++) {
      base.clock.advance(GOLD_LOCK_ROUND_MS)
      await followGoldLocks(later(services, -hour))
    }
    expect(await eventsOf(platform, late)).toEqual(['gold.locked', 'gold.unlock_eligible'])
  })

  it('asks the node nothing without locks, seldom while they are far, and little once they are due', {
    tags: 'sampled',
  }, async () => {
    const platform = await daemon()
    const { services } = platform
    const rounds = (count: number) =>
      askedFor(async () => {
        for (let i = 0; i < count; i++) {
          base.clock.advance(GOLD_LOCK_ROUND_MS)
          await followGoldLocks(services)
        }
      })
    expect(await rounds(60)).toEqual({})
    const users = [await locked(platform, 30), await locked(platform, 30)]
    await followGoldLocks(services)
    // The consensus is asked for once in minutes of the daemon's clock.
    const { getMultipleAccounts, getAgGenesisCert } = await rounds(60)
    expect(getMultipleAccounts).toBe(2)
    expect(getAgGenesisCert ?? 0).toBeLessThan(3)
    base.clock.advance(30 * DAY * 1000)
    expect((await rounds(1)).getMultipleAccounts).toBe(2)
    // Unlockable: looked at again after ten minutes, then ever less often.
    const asked = await rounds(runs(DAY / 80, DAY / 10))
    expect(asked.getMultipleAccounts).toBeLessThan(runs(40, 100))
    for (const user of users) expect(await eventsOf(platform, user)).toEqual(['gold.locked', 'gold.unlock_eligible'])
  })

  it('fails its round if the node fails, and reports in the next', async () => {
    const platform = await daemon()
    const user = await locked(platform, 1)
    base.clock.advance(DAY * 1000)
    onTestFinished(() => {
      base.node.decide = () => undefined
    })
    for (const fault of ['http 500', 'html', 'timeout', 'malformed'] as const) {
      base.node.decide = () => fault
      await expect(followGoldLocks(platform.services)).rejects.toMatchObject({ code: 'internal_error' })
    }
    base.node.decide = () => undefined
    await followGoldLocks(platform.services)
    expect(await eventsOf(platform, user)).toEqual(['gold.locked', 'gold.unlock_eligible'])
    const { json } = await platform.request('DELETE', `/v2/gold-locks/${addressOf(user)}`, {
      body: { platform_id: 'acme' },
    })
    const { signature } = base.chain.send(Buffer.from(signWith(json.data.transaction, [user]), 'base64'))
    base.clock.advance(DAY * 1000)
    // How it ended is not made up while the node does not say it.
    base.node.decide = (method) => (method === 'getTransaction' ? 'http 500' : undefined)
    await followGoldLocks(platform.services)
    expect(await eventsOf(platform, user)).toHaveLength(2)
    base.node.decide = () => undefined
    base.clock.advance(600_000)
    await followGoldLocks(platform.services)
    const { data } = (await platform.request('GET', `/v2/events?type=gold.unlocked`)).json
    expect(data.map((event: { data: { object: object } }) => event.data.object)).toMatchObject([
      { user: addressOf(user), signature, status: 'unlocked', source: 'chain' },
    ])
  })

  it('says that a lock ended by a transaction of version 1, once the node shows it', async () => {
    let shows = false
    const unshown = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32015, message: 'Transaction version (2) is not supported by the requesting client' },
    })
    const platform = await daemon({
      around: (send) => async (input, init) =>
        !shows && String(init?.body).includes('"getTransaction"') ? new Response(unshown) : send(input, init),
    })
    const user = await locked(platform, 1)
    base.clock.advance(DAY * 1000)
    await followGoldLocks(platform.services)
    const { json } = await platform.request('DELETE', `/v2/gold-locks/${addressOf(user)}`, {
      body: { platform_id: 'acme' },
    })
    const { err, signature } = base.chain.send(signV1(inVersion1(json.data.transaction), [user]))
    expect(err).toBeNull()
    base.clock.advance(DAY * 1000)
    await followGoldLocks(platform.services)
    expect(await eventsOf(platform, user)).toEqual(['gold.locked', 'gold.unlock_eligible'])
    const said = platform.logged.find(({ message }) => message === 'could not read how a gold lock ended')
    expect((said?.fields as { err?: Error })?.err?.message).toContain(`${signature} has a later version than 1`)
    shows = true
    base.clock.advance(600_000)
    await followGoldLocks(platform.services)
    const { data } = (await platform.request('GET', `/v2/events?type=gold.unlocked&resource_id=${addressOf(user)}`))
      .json
    expect(data.map((event: { data: { object: object } }) => event.data.object)).toMatchObject([
      { user: addressOf(user), signature, status: 'unlocked', source: 'chain' },
    ])
  })

  it('reports how a lock ended although the endings of ten older ones cannot be read', async () => {
    const refusal = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'history is lost' } })
    const unreadable = new Set<string>()
    const platform = await daemon({
      around: (send) => async (input, init) => {
        const [, escrow] = /"getSignaturesForAddress".*?\["(\w+)"/.exec(String(init?.body)) ?? []
        return unreadable.has(escrow ?? '') ? new Response(refusal) : send(input, init)
      },
    })
    const { services } = platform
    const genesis = await services.chain.genesisHash()
    const older = Array.from({ length: 10 }, (_, i) => goneLock(`s${i}`, genesis))
    for (const { escrow } of older) unreadable.add(escrow)
    base.clock.advance(1_000)
    const last = goneLock('last', genesis)
    await services.store.write(async (tx) => {
      for (const row of [...older, last]) await insertGoldLock(tx, row)
    })
    const endedLocks = async () => {
      const rows = await services.store.db.selectFrom('gold_locks').select('user').where('status', '=', 'unlocked')
      return (await rows.orderBy('seq').execute()).map(({ user }) => user)
    }
    for (let i = 0; i < 2; i++) {
      base.clock.advance(GOLD_LOCK_ROUND_MS)
      await followGoldLocks(services)
    }
    expect(await endedLocks()).toEqual([last.user])
    unreadable.clear()
    base.clock.advance(600_000)
    await followGoldLocks(services)
    expect(await endedLocks()).toEqual([...older, last].map(({ user }) => user))
  })

  it('follows a bounded number of locks in a round, all of them in the end, and ignores other chains', async () => {
    const platform = await daemon()
    const { services } = platform
    const genesis = await services.chain.genesisHash()
    const gone = Array.from({ length: 120 }, (_, i) => goneLock(`s${i}`, i < 105 ? genesis : 'another'))
    await services.store.write(async (tx) => {
      for (const row of gone) await insertGoldLock(tx, row)
    })
    const user = await locked(platform, 1)
    base.clock.advance(DAY * 1000)
    const first = await askedFor(() => followGoldLocks(services))
    expect(first).toMatchObject({ getMultipleAccounts: 3, getSignaturesForAddress: 10 })
    expect(await eventsOf(platform, user)).toEqual(['gold.locked', 'gold.unlock_eligible'])
    for (let i = 0; i < 12; i++) await followGoldLocks(services)
    const count = async (status: string) =>
      (
        await services.store.db
          .selectFrom('gold_locks')
          .select('seq')
          .where('status', '=', status as 'locked')
          .execute()
      ).length
    expect([await count('unlocked'), await count('locked'), await count('unlockable')]).toEqual([105, 15, 1])
    const events = await services.store.db
      .selectFrom('events')
      .select('resource_id')
      .where('type', '=', 'gold.unlocked')
      .execute()
    expect(new Set(events.map(({ resource_id }) => resource_id)).size).toBe(events.length)
    expect(events.length).toBe(105)
  })
})
