/** Suite: an index finds every page of every list, whatever its filters, and the rows that are due for a worker. */
import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import type { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { housekeepingWorker } from '../../daemon/workers/housekeeping.ts'
import { releaseDeadLeases } from '../../daemon/workers/lease.ts'
import { api } from '../../src/api/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'
import { encodeTreeId } from '../../src/merkle/tree-id.ts'
import { repairMoments } from '../../src/operations/clock-repair.ts'
import { advanceReplays, fanOut, finishRemovals } from '../../src/operations/webhook-deliveries/enqueuing.ts'
import { dueAirdrops } from '../../src/store/airdrops/airdrops.ts'
import { claimFigures, claimWindows } from '../../src/store/airdrops/claim-figures.ts'
import { claimedAmong, recordAirdropClaim } from '../../src/store/airdrops/claims.ts'
import {
  countSponsoredClaims,
  endedSponsoredClaims,
  sponsoredClaimsOfWallet,
  unsignedSponsoredClaims,
} from '../../src/store/airdrops/sponsorships.ts'
import {
  dueFeeScheduleRuns,
  feeScheduleClaimsOf,
  findRunUnderWay,
  poolsToClaim,
} from '../../src/store/fees/fee-schedule-runs.ts'
import { dueFeeSchedules, feeSchedulesPlannedAfter } from '../../src/store/fees/fee-schedules.ts'
import { waitingTransactions } from '../../src/store/following/chain-transactions.ts'
import { dueAccounts } from '../../src/store/following/followed-accounts.ts'
import {
  balancesAfter,
  dueUnread,
  isAnyUnledgered,
  ledgerTransactionsAfter,
  unledgered,
} from '../../src/store/ledger/ledger.ts'
import { dueProposals, dueRuleProposals } from '../../src/store/proposals/proposals.ts'
import { dueGoldLocks, isAnyGoldLockLive, nextGoldLocks } from '../../src/store/resources/gold-locks.ts'
import { duePools, isAnyPoolDue, lastTracked, poolsOfMint } from '../../src/store/resources/pools.ts'
import type { Store } from '../../src/store/store.ts'
import {
  dueSends,
  dueTransactions,
  isAnyTransactionDue,
  unconfirmedTransactions,
} from '../../src/store/transactions/transactions.ts'
import { attemptsSince, receiverStates } from '../../src/store/webhooks/deliveries.ts'
import { insertReplay } from '../../src/store/webhooks/enqueuing.ts'
import { sendable, subscriptionsWithDue } from '../../src/store/webhooks/queue.ts'
import { insertRemoval } from '../../src/store/webhooks/subscriptions.ts'
import { unfinalDeliveries } from '../../src/store/webhooks/unfinal.ts'
import { readQueueFigures } from '../../src/store/workers/figures.ts'
import { type Requester, requester } from '../support/request.ts'
import { ORIGIN, openService, removeFolder, type Service } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { fill } from './many-rows.ts'
import { planOf, watched } from './plans.ts'
import type { PostgresServer } from './postgres-server.ts'

const address = () => base58.encode(randomBytes(32))

/** What each filter is asked for, by list; a list or a filter that is not here fails. */
const FILTERS: Record<string, Record<string, string>> = {
  'feeClaims.listByPool': { kind: 'dbc', beneficiary: 'creator' },
  'feeClaims.list': { kind: 'dbc', beneficiary: 'creator' },
  'feeSchedules.list': { active: 'true' },
  'feeSchedules.runs': {},
  'airdrops.list': { mint: address() },
  'airdrops.claims': {},
  'merkleTrees.list': {},
  'holderSnapshots.list': { address: address() },
  'holderSnapshots.holders': {},
  'locks.list': { mint: address(), recipient: address(), creator: address() },
  'pools.presets': {},
  'pools.trades': {},
  'pools.list': { status: 'pending', type: 'dbc', creator: address(), mint: address(), symbol: 'cn7' },
  'stakes.list': { owner: address(), collection: address(), status: 'staked' },
  'nfts.list': {},
  'payRequests.list': {},
  'goldLocks.list': { user: address(), status: 'locked' },
  'raises.list': { mint: address(), creator: address() },
  'proposals.list': { kind: 'squads', status: 'active', multisig: address() },
  'tokens.list': { status: 'fully_immutable', symbol: 'cn7' },
  'transactions.list': { lifecycle: 'failed', external_uid: 'order-7', resource_id: 'pool-7', bundle_id: 'bundle-7' },
  'events.list': {
    type: 'pool.live',
    resource_type: 'pool',
    resource_id: 'pool 1',
    created_after: new Date(100).toISOString(),
    order: 'asc',
  },
  'webhookSubscriptions.list': { active: 'true' },
  'webhookSubscriptions.deliveries': { status: 'failed' },
  'auditEntries.list': { action: 'signer.paused', order: 'asc' },
  'apiKeys.list': {},
  'approvers.list': {},
  'consoleSessions.list': {},
  'attention.list': { kind: 'receiver_off', subject: 'whs_1', snoozed: 'true' },
  'ledger.list': {
    pool: address(),
    mint: address(),
    party: 'creator',
    kind: 'claim',
    account: address(),
    signature: base58.encode(randomBytes(64)),
    created_after: new Date(100).toISOString(),
    created_before: new Date(9_000).toISOString(),
  },
  'ledger.summary': { by: 'month', pool: address(), mint: 'SOL', party: 'creator', kind: 'claim', month: '2026-11' },
  // Of stored trees, and of one stored tree's leaves.
  'airdrops.lookup': {},
  'merkleTrees.entries': {},
}
Object.assign(FILTERS['merkleTrees.list']!, { mint: FILTERS['airdrops.list']!.mint })
Object.assign(FILTERS['airdrops.lookup']!, { mint: FILTERS['airdrops.list']!.mint })
Object.assign(FILTERS['nfts.list']!, {
  owner: FILTERS['stakes.list']!.owner,
  collection: FILTERS['stakes.list']!.collection,
})

const POOL = address()
/** An id as the routes take it, without a tree. */
const TREE = encodeTreeId(randomBytes(32), 7)
const WANTED = {
  type: 'pool.live',
  resource_type: 'pool',
  resource_id: 'pool 1',
  action: 'signer.paused',
  pool_type: 'dbc',
  pool_status: 'pending',
  creator: FILTERS['pools.list']!.creator!,
  owner: FILTERS['stakes.list']!.owner!,
  collection: FILTERS['stakes.list']!.collection!,
  stake_status: 'staked',
  proposal_kind: 'squads',
  proposal_status: 'active',
  multisig: FILTERS['proposals.list']!.multisig!,
  user: FILTERS['goldLocks.list']!.user!,
  lock_status: 'locked',
  token_status: 'fully_immutable',
  lifecycle: 'failed',
  mint: FILTERS['airdrops.list']!.mint!,
  address: FILTERS['holderSnapshots.list']!.address!,
  pool_address: POOL,
  claim_kind: 'dbc',
  beneficiary: 'creator',
  ledger_pool: FILTERS['ledger.list']!.pool!,
  ledger_token: FILTERS['ledger.list']!.mint!,
  ledger_owner: FILTERS['ledger.list']!.account!,
  subscription_id: 'whs-100',
  tree_id: TREE,
}
/** In the path, by name. */
const PATH: Record<string, string> = { address: POOL, id: 'whs-100', wallet: address() }
/** Columns by the name of what is sent for them, where that is another one. */
const LEADS: Record<string, string | null> = { created_after: 'sequence', order: null }

/** The filters of the ledger are too many for an index of each combination: of several, one leads. */
const LEDGER_LEADS: Record<string, string | null> = {
  mint: 'token',
  account: 'owner',
  created_after: 'seq',
  created_before: null,
}

/** Columns of filters that few rows match: the first that is sent leads, and the others are only compared. */
const NARROW: Record<string, Record<string, string>> = {
  'pools.list': { mint: 'base_mint', symbol: 'symbol' },
  'tokens.list': { symbol: 'symbol' },
  'transactions.list': { bundle_id: 'bundle_id', external_uid: 'external_uid', resource_id: 'tracked_id' },
}

/** Columns that the path of a list leads to. */
const IN_PATH: Record<string, readonly string[]> = {
  'feeClaims.listByPool': ['pool_address'],
  'webhookSubscriptions.deliveries': ['subscription_id'],
  'airdrops.claims': ['genesis', 'airdrop_id'],
  'feeSchedules.runs': ['schedule_id'],
}

const lists = Object.entries(api).flatMap(([resource, routes]) =>
  Object.entries(routes as Record<string, AnyRoute>).flatMap(([verb, route]) =>
    route.list ? [[`${resource}.${verb}`, route] as const] : [],
  ),
)
const subsets = (names: readonly string[]): string[][] =>
  Array.from({ length: 2 ** names.length }, (_, bits) => names.filter((_, i) => (bits >> i) % 2 === 1))

/**
 * What must lead to the rows of `table` by an index. A page is measured by its filters, and then its rows are read by
 * their places; besides these only the key of the request is looked for.
 */
function leadsOf({ sql: text }: CompiledQuery, table: string, columns: readonly string[]): readonly string[] {
  if (new RegExp(`^select "\\w+" as "place", .* as "weight" from "${table}".* limit `).test(text)) return columns
  if (!text.startsWith(`select * from "${table}"`)) return []
  return text.startsWith('select * from "api_keys" where "hash" = ') ? ['hash'] : [PLACES[table] ?? 'seq']
}

/** Of statements with one text, which a worker runs for thousands of rows, the first ones: a plan takes long to ask for. */
function sampled(statements: readonly CompiledQuery[]): CompiledQuery[] {
  const seen = new Map<string, number>()
  return statements.filter(({ sql: text }) => {
    const times = (seen.get(text) ?? 0) + 1
    seen.set(text, times)
    return times <= PLANS_PER_TEXT
  })
}
const PLANS_PER_TEXT = 5

interface QueryPlansOptions {
  /** In each table. */
  rows: number
  /** At most so many filters at a time. */
  filters?: number
  /** Whether the looks of the workers are planned too. */
  workers?: boolean
}

/** The suite on SQLite, or on the databases of `server`. */
export function queryPlansSuite(
  server: PostgresServer | undefined,
  { rows, filters = 8, workers = true }: QueryPlansOptions,
): void {
  const folder = makeSharedFolder('svc-')
  let service: Service
  let store: Store
  let statements: CompiledQuery[]
  let request: Requester

  beforeAll(async () => {
    const url = await server?.createDatabase()
    const settings = {
      ...(url !== undefined && {
        'postgres.pool-timeout-ms': 60_000,
        'database-url': url,
        'encryption-key': randomBytes(32).toString('hex'),
      }),
      'retention.events-days': 1,
      'retention.transaction-bytes-days': 1,
      'retention.trees-days': 1,
      'retention.signings-days': 1,
      'retention.schedule-runs-days': 1,
      'retention.holder-snapshots-days': 1,
    }
    service = await openService({ dataDir: folder, settings })
    await fill(service.services.store, { ...WANTED, genesis: await service.services.chain.genesisHash() }, rows)
    const seen = watched(service.services.store)
    store = seen.store
    statements = seen.statements
    const app = await createApp({ ...service.services, store, role: 'all' })
    request = requester(ORIGIN, app.fetch, service.operator, { documented: false })
  })
  afterAll(async () => {
    await service?.close()
    removeFolder(folder)
  })

  /** What is wrong with the plans of what ran since the last look; `columns` must lead to the rows of `table`. */
  async function faults(title: string, table?: string, columns: readonly string[] = []): Promise<string[]> {
    const ran = statements.splice(0)
    const found: string[] = []
    let pages = 0
    for (const statement of sampled(ran)) {
      if (!/^(select|update|delete|insert)/.test(statement.sql)) continue
      const plan = await planOf(service.services.store, statement)
      const leads = table === undefined ? [] : leadsOf(statement, table, columns)
      if (leads === columns) pages++
      // Rows that a statement names are found by their names, however few others a planner believes there are.
      const named = /^update .* where "(\w+)" in \(/.exec(statement.sql)?.slice(1) ?? []
      const unled = [...leads, ...named].filter((column) => !plan.led.includes(column))
      if (plan.faults.length === 0 && unled.length === 0) continue
      found.push(`${title}: ${statement.sql}\n${plan.text}\nnot by an index: ${[...plan.faults, ...unled].join(', ')}`)
    }
    if (table !== undefined && pages === 0) found.push(`${title}: no page of ${table} was read`)
    return found
  }

  it.each(lists)('%s reads only rows that match its filters, in the order of its pages', async (list, route) => {
    const values = FILTERS[list]
    expect(values, `${list} is new: give values for its filters`).toBeDefined()
    const names = Object.keys(route.query?.shape ?? {}).filter((field) => field !== 'limit' && field !== 'cursor')
    expect(names.toSorted(), 'filters without a value here').toEqual(Object.keys(values!).toSorted())
    // Presets stand in the configuration, locks and trades on the chain. Sums are of totals, of which there are few however many entries there are.
    if (
      list === 'pools.presets' ||
      list === 'pools.trades' ||
      list === 'merkleTrees.entries' ||
      list === 'holderSnapshots.holders' ||
      list === 'locks.list' ||
      list === 'ledger.summary'
    )
      return
    const table = TABLES[list]
    const path = route.path
      .replace('/airdrops/{id}', `/airdrops/${TREE}`)
      .replace(/\{(\w+)\}/g, (_, parameter: string) => PATH[parameter]!)
    const inPath = IN_PATH[list] ?? []
    const found: string[] = []
    const isLedger = list === 'ledger.list'
    const leadNames = isLedger ? LEDGER_LEADS : LEADS
    for (const set of subsets(names).filter(({ length }) => length <= (isLedger ? 1 : filters))) {
      const query = new URLSearchParams(Object.fromEntries(set.map((field) => [field, values![field]!])))
      query.set('limit', '1')
      const narrow = Object.entries(NARROW[list] ?? {}).find(([field]) => set.includes(field))
      const leads = [
        ...inPath,
        ...(narrow === undefined ? set : [narrow[1]])
          .map((field) => (field in leadNames ? leadNames[field]! : field))
          .filter((lead) => lead !== null),
      ]
      statements.splice(0)
      const first = await request('GET', `${path}?${query}`)
      expect(first.status, first.text).toBe(200)
      found.push(...(await faults(`${list} by ${set}`, table, leads)))
      if (first.json.meta.next_cursor === null) continue
      query.set('cursor', first.json.meta.next_cursor)
      await request('GET', `${path}?${query}`)
      found.push(...(await faults(`${list} by ${set}, second page`, table, [...leads, PLACES[table!] ?? 'seq'])))
    }
    expect(found.join('\n\n')).toBe('')
  })

  it.skipIf(!workers)('workers find due rows by an index, oldest first', async () => {
    const [now, limit, genesis] = [2_000, 10, 'x']
    const signal = new AbortController().signal
    const looks: Record<string, () => Promise<unknown>> = {
      pools: () => duePools(store.db, genesis, now, limit),
      'any pool': () => isAnyPoolDue(store.db, now),
      'pools of a mint': () => poolsOfMint(store.db, 'mint-7', genesis),
      'what tracks a pool': () => lastTracked(store.db, 'pool-7'),
      'fee schedules': () => dueFeeSchedules(store.db, now, limit),
      'fee schedules of a fast clock': () => feeSchedulesPlannedAfter(store.db, 9_990, limit),
      'runs of fee schedules': () => dueFeeScheduleRuns(store.db, now, limit),
      'the run under way': () => findRunUnderWay(store.db, 'whs-100'),
      'pools of a preset': () => poolsToClaim(store.db, { preset: 'x' }, { genesis, after: 5_000, limit }),
      'pools of a creator': () => poolsToClaim(store.db, { creator: WANTED.creator }, { genesis, after: 5_000, limit }),
      'claims of a run': () => feeScheduleClaimsOf(store.db, 'run-7', ['pool-7']),
      'sponsored claims of a wallet': () =>
        sponsoredClaimsOfWallet(store.db, { airdrop_id: 'airdrop-7', wallet: 'wallet-7', genesis: 'x' }, limit),
      'sponsored claims by status': () => countSponsoredClaims(store.db, 'airdrop-7'),
      'sponsored claims that have ended': () => endedSponsoredClaims(store.db, 100, limit),
      'sponsored claims without a signature': () => unsignedSponsoredClaims(store.db, now, limit),
      airdrops: () => dueAirdrops(store.db, now, limit),
      'figures of claims': async () => {
        const of = { genesis: await service.services.chain.genesisHash(), airdrop_id: TREE }
        await claimFigures(store.db, { ...of, airdrop_id: 'tree-7' })
        await claimWindows(store.db, of, { since: 0, hours: 1 })
        await claimedAmong(store.db, of, [address()])
      },
      'another claim': async () => {
        const of = { genesis: await service.services.chain.genesisHash(), airdrop_id: TREE }
        const claim = { ...of, wallet: address(), kind: 'claim' as const, amount: 7n, amount_locked: 0n }
        const at = { signature: 'x', slot: 1, claimed_at: 1 }
        for (const wallet of ['a', 'b', 'c'])
          await store.write((tx) => recordAirdropClaim(tx, { ...claim, wallet, ...at }))
      },
      'gold locks': () => dueGoldLocks(store.db, { genesis, chainNow: now, now, limit }),
      'next gold locks': () => nextGoldLocks(store.db, genesis),
      proposals: () => dueProposals(store.db, genesis, now, limit),
      'executed proposals': () => dueRuleProposals(store.db, now, limit),
      'any gold lock': () => isAnyGoldLockLive(store.db),
      transactions: () => dueTransactions(store.db, genesis, now, limit),
      'any transaction': () => isAnyTransactionDue(store.db, now),
      sends: () => dueSends(store.db, genesis, now, limit),
      'one send': () => dueSends(store.db, genesis, now, limit, 'signature-100'),
      'unseen transactions': () => unconfirmedTransactions(store.db, genesis, now),
      'followed accounts': () => dueAccounts(store.db, { genesis, watch: 'state', now, limit }),
      'transactions to be read': () => waitingTransactions(store.db, { genesis, lane: 'state', now, limit }),
      'payments to be read': () => waitingTransactions(store.db, { genesis, lane: 'holding', now, limit }),
      'transactions for the ledger': () => unledgered(store.db, { genesis, limit }),
      'new transactions for the ledger': () => unledgered(store.db, { genesis, since: 100, limit }),
      'anything for the ledger': () => isAnyUnledgered(store.db, now),
      'transactions to be tried again': () => dueUnread(store.db, { genesis, now, limit }),
      'balances of an account': async () => {
        const own = await service.services.chain.genesisHash()
        return balancesAfter(store.db, { genesis: own, account: 'account-7', token: '', slot: 0, limit })
      },
      'transactions to compare': () => ledgerTransactionsAfter(store.db, { genesis, after: 100, limit }),
      'final deliveries': () => unfinalDeliveries(store.db, 0, limit),
      subscriptions: () => subscriptionsWithDue(store.db, now),
      'figures for the metrics': () => readQueueFigures(store.db, now),
      deliveries: () => sendable(store.db, { id: 'whs-100', cursor: 10_000 }, now, limit),
      housekeeping: () =>
        housekeepingWorker.tick({ ...service.services, metrics: { clockFault() {} }, store, signal, stopping: signal }),
      'dead leases': () => releaseDeadLeases({ ...service.services, store }),
      'new events': () => fanOut({ ...service.services, store }),
      'new events for a filter': async () => {
        const filter_json = '{"fields":[{"field":"data.x","values":["1"]}]}'
        await service.services.store.write((tx) =>
          tx.updateTable('webhook_subscriptions').set({ filter_json, cursor: 0 }).where('id', '=', 'whs-300').execute(),
        )
        await fanOut({ ...service.services, store })
      },
      'states of receivers': () => receiverStates(store.db, ['whs-100', 'whs-200']),
      'attempts of a day': () => attemptsSince(store.db, 'whs-100', 0, limit),
      replays: async () => {
        const replay = {
          subscription_id: 'whs-200',
          since: 0,
          come_to: 10_000,
          through: 0,
          last: 10_000,
          created_at: 0,
        }
        const types_json = '["pool.live"]'
        await service.services.store.write(async (tx) => {
          await insertReplay(tx, { ...replay, types_json })
          await insertReplay(tx, { ...replay, types_json, filter_json: '{"types":["pool.*"]}' })
        })
        await advanceReplays({ ...service.services, store }, { after: 0 })
      },
      'plans too far ahead': async () => {
        const far = service.clock.now() + 365 * 86_400_000
        await service.services.store.write(async (tx) => {
          for (const table of ['transactions', 'merkle_trees', 'pools', 'gold_locks'] as const) {
            await tx.updateTable(table).set({ next_check_at: far }).where('seq', 'in', [100, 200]).execute()
          }
          await tx.updateTable('transactions').set({ next_send_at: far }).where('seq', 'in', [100, 200]).execute()
        })
        const repaired = await repairMoments({ ...service.services, store })
        expect([...repaired.values()]).toEqual([2, 2, 2, 2, 2])
      },
      removals: async () => {
        await service.services.store.write((tx) => insertRemoval(tx, 'whs-100', 0))
        await finishRemovals({ ...service.services, store }, { after: 0 })
      },
    }
    const found: string[] = []
    for (const [what, look] of Object.entries(looks)) {
      statements.splice(0)
      await look()
      expect(statements.length, what).toBeGreaterThan(0)
      found.push(...(await faults(what)))
    }
    expect(found.join('\n\n')).toBe('')
  })
}

const TABLES: Record<string, string> = {
  'feeClaims.listByPool': 'fee_claims',
  'feeClaims.list': 'fee_claims',
  'feeSchedules.list': 'fee_schedules',
  'feeSchedules.runs': 'fee_schedule_runs',
  'airdrops.list': 'merkle_trees',
  'airdrops.lookup': 'merkle_trees',
  'airdrops.claims': 'airdrop_claims',
  'merkleTrees.list': 'merkle_trees',
  'holderSnapshots.list': 'holder_snapshots',
  'pools.list': 'pools',
  'stakes.list': 'stakes',
  'nfts.list': 'nfts',
  'payRequests.list': 'pay_requests',
  'goldLocks.list': 'gold_locks',
  'raises.list': 'raises',
  'proposals.list': 'proposals',
  'ledger.list': 'ledger_entries',
  'tokens.list': 'tokens',
  'transactions.list': 'transactions',
  'events.list': 'events',
  'webhookSubscriptions.list': 'webhook_subscriptions',
  'webhookSubscriptions.deliveries': 'webhook_deliveries',
  'auditEntries.list': 'audit_entries',
  'apiKeys.list': 'api_keys',
  'approvers.list': 'approvers',
  'consoleSessions.list': 'console_sessions',
}
/** Columns that number the rows. */
const PLACES: Record<string, string> = { events: 'sequence', audit_entries: 'sequence' }
