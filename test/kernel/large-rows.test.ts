/** Rows that are larger than anything that is taken today: no list and no worker is stopped by them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dueAirdrops } from '../../src/store/airdrops/airdrops.ts'
import { auditWalk } from '../../src/store/audit/verification.ts'
import { PAGE_BYTES } from '../../src/store/queries/paging.ts'
import { dueGoldLocks } from '../../src/store/resources/gold-locks.ts'
import { insertHolderSnapshot } from '../../src/store/resources/holder-snapshots.ts'
import { duePools } from '../../src/store/resources/pools.ts'
import type { Tx } from '../../src/store/store.ts'
import { lists } from '../api/bodies.ts'
import { LEAST_TRANSACTION } from '../store/rows.ts'
import { holderSnapshotRow } from '../support/holder-snapshot-rows.ts'
import { inSoak } from '../support/runs.ts'
import { openService, removeFolder, type Service } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { entries, wallet } from '../support/trees.ts'

const MIB = 1024 * 1024
const MINT = wallet(0)
/** Two of 3 MiB fit onto a page, and the one of 9 MiB has a page of its own. */
const SIZES = inSoak ? [0, 3, 3, 3, 3, 9, 0] : [0, 3, 3, 9, 0]
/** Lists of `npm test`; the soak reads all. */
const SAMPLE = ['pools.list', 'events.list', 'auditEntries.list']
const HOOK = 'whs_large'

const recorded = (n: number, metadata_json: string) => ({ external_uid: null, metadata_json, created_at: n })

const TERMS = JSON.stringify({ kinds: ['dbc'], beneficiary: 'partner', threshold: '0', splits: null, filter: {} })
const SCHEDULE = { cron: '0 6 * * *', timezone: 'UTC', terms_json: TERMS, active: 0, created_by: 'k', updated_by: 'k' }

/** Of the chain of the service. */
let genesis = ''

/** What an earlier version may have stored: `text` is a JSON object of that size, `n` tells the rows apart. */
const ROWS: Record<string, { path: string; insert(tx: Tx, n: number, text: string): Promise<unknown> }> = {
  'pools.list': {
    path: '/v2/pools',
    insert: (tx, n, text) => {
      const known = { base_mint: wallet(n), quote_mint: MINT, config: null, creator: null, genesis }
      const named = { name: 'n', symbol: 's', metadata_uri: null, status: 'live' as const, next_check_at: 0 }
      const row = { address: wallet(100 + n), type: 'dbc' as const, ...known, ...named, ...recorded(n, text) }
      return tx.insertInto('pools').values(row).execute()
    },
  },
  'feeClaims.list': { path: '/v2/fee-claims', insert: feeClaim },
  'feeClaims.listByPool': { path: `/v2/pools/${MINT}/fee-claims`, insert: feeClaim },
  'feeSchedules.list': {
    path: '/v2/fee-schedules?active=false',
    insert: (tx, n, text) => {
      const times = { next_run_at: null, planned_at: n, updated_at: n }
      return tx
        .insertInto('fee_schedules')
        .values({ ...SCHEDULE, id: `fsc_${n}`, ...times, ...recorded(n, text) })
        .execute()
    },
  },
  'feeSchedules.runs': {
    path: `/v2/fee-schedules/fsc_0/runs`,
    insert: (tx, n, text) => {
      const about = { schedule_id: 'fsc_0', scheduled_at: n, status: 'done' as const, reason: null, terms_json: null }
      return tx
        .insertInto('fee_schedule_runs')
        .values({ id: `fsr_${n}`, ...about, next_step_at: null, ...recorded(n, text) })
        .execute()
    },
  },
  'airdrops.list': { path: '/v2/airdrops', insert: async () => {} },
  'airdrops.lookup': { path: `/v2/wallets/${wallet(1)}/airdrops`, insert: async () => {} },
  'holderSnapshots.list': {
    path: '/v2/holder-snapshots',
    insert: (tx, n, metadata_json) => insertHolderSnapshot(tx, { ...holderSnapshotRow(n), metadata_json }, []),
  },
  'merkleTrees.list': {
    path: '/v2/merkle-trees',
    insert: (tx, n, metadata_json) =>
      tx.updateTable('merkle_trees').set({ metadata_json }).where('airdrop_count', '=', n).execute(),
  },
  'stakes.list': {
    path: '/v2/stakes',
    insert: (tx, n, text) => {
      const about = { asset: wallet(n), collection: MINT, owner: MINT, status: 'staked' as const }
      const told = { platform_id: 'p', freeze_authority: null }
      return tx
        .insertInto('stakes')
        .values({ ...about, ...told, ...recorded(n, text) })
        .execute()
    },
  },
  'nfts.list': {
    path: '/v2/nfts',
    insert: (tx, n, text) => {
      const about = { asset: wallet(n), collection: MINT, owner: MINT, status: 'minted' as const, frozen: 0 }
      return tx
        .insertInto('nfts')
        .values({ ...about, name: 'n', uri: text, ...recorded(n, '{}') })
        .execute()
    },
  },
  'payRequests.list': {
    path: '/v2/pay-requests',
    insert: (tx, n, text) => {
      const request = { method: 'POST' as const, path: '/v2/sol-transfers', body_json: JSON.stringify({ text }) }
      const about = { id: `pay_${n}`, api_key_id: 'key', url: 'https://example.com', reference: 'r', genesis: 'g' }
      const state = { state: 'open' as const, builds: 0, recent_builds_json: '[]', held_until: 0, expires_at: 0 }
      return tx
        .insertInto('pay_requests')
        .values({ ...request, ...about, ...state, ...recorded(n, '{}') })
        .execute()
    },
  },
  'transactions.list': {
    path: '/v2/transactions',
    insert: (tx, n, text) => {
      const bytes = {
        signature: wallet(n).padEnd(88, 's'),
        raw: LEAST_TRANSACTION,
        blockhash: 'b',
        genesis: 'elsewhere',
      }
      const seen = { lifecycle: 'failed' as const, confirmation_status: null, slot: 1, confirmations: 0, checked_at: 0 }
      const tracked = { tracked_resource_json: null, tracked_id: null, bundle_id: null, nonce_account: null }
      const later = { max_retries: 0, since_slot: null, next_check_at: null, next_send_at: null, sends: 0 }
      return tx
        .insertInto('transactions')
        .values({ ...bytes, ...seen, ...tracked, ...later, err_json: text, ...recorded(n, '{}') })
        .execute()
    },
  },
  'raises.list': {
    path: '/v2/raises',
    insert: (tx, n, text) => {
      const about = { id: wallet(n), genesis: 'g', mint: MINT, quote_mint: MINT, creator: MINT }
      const terms = { sale_mode: 'pro_rata' as const, min: '1', max: '2', supply: '1', ends_at: n, pool_json: null }
      const state = { state: 'pending' as const, next_check_at: null, creator_vault: null }
      return tx
        .insertInto('raises')
        .values({ ...about, ...terms, ...state, ...recorded(n, text) })
        .execute()
    },
  },
  'proposals.list': {
    path: '/v2/proposals',
    insert: (tx, n, metadata_json) => {
      const places = { multisig: MINT, vault: MINT, transaction_address: MINT, proposal_address: MINT }
      const numbers = { vault_index: 0, transaction_index: '1', time_lock: 0 }
      const approver = { kind: 'squads', ...places, ...numbers, member: null, members: [], approved_at: null }
      const act = {
        operation: 'fee_claim.create',
        what: 'Claim',
        message: LEAST_TRANSACTION,
        message_sha256: '0'.repeat(64),
      }
      const state = { kind: 'squads' as const, genesis: 'g', status: 'expired' as const, needed: 1, updated_at: n }
      return tx
        .insertInto('proposals')
        .values({
          id: `prp_${n}`,
          approver_json: JSON.stringify(approver),
          ...act,
          ...state,
          ...recorded(n, metadata_json),
        })
        .execute()
    },
  },
  'approvers.list': {
    path: '/v2/approvers',
    insert: (tx, n, metadata_json) =>
      tx
        .insertInto('approvers')
        .values({ address: wallet(n), name: 'Ada', added_by: 'key', ...recorded(n, metadata_json) })
        .execute(),
  },
  'goldLocks.list': {
    path: '/v2/gold-locks',
    insert: (tx, n, text) => {
      const about = { escrow: wallet(n), user: wallet(n), mint: MINT, amount: '1', unlocks_at: 0, slot: 1 }
      const seen = { status: 'locked' as const, signature: `s${n}`, genesis, next_check_at: 0 }
      return tx
        .insertInto('gold_locks')
        .values({ ...about, ...seen, ...recorded(n, text) })
        .execute()
    },
  },
  'tokens.list': {
    path: '/v2/tokens',
    insert: (tx, n, text) => {
      const row = { mint: wallet(n), status: 'created' as const, token_program: 'spl', raw_json: text }
      return tx
        .insertInto('tokens')
        .values({ ...row, ...recorded(n, '{}') })
        .execute()
    },
  },
  'events.list': {
    path: '/v2/events',
    insert: async (tx, n, text) => {
      const { value: sequence } = await tx
        .updateTable('counters')
        .set((row) => ({ value: row('value', '+', 1) }))
        .where('name', '=', 'events')
        .returning('value')
        .executeTakeFirstOrThrow()
      const about = { type: 'pool.live', resource_type: 'pool', resource_id: MINT, dedupe_key: `large ${n}` }
      const row = { sequence, id: `evt_${n}`, ...about, object_json: text, latest_at: n, ...recorded(n, text) }
      return tx.insertInto('events').values(row).execute()
    },
  },
  'webhookSubscriptions.list': {
    path: '/v2/webhook-subscriptions?active=false',
    insert: (tx, n, text) => {
      const enabled_events_json = JSON.stringify(Array(Math.ceil(text.length / 12)).fill('pool.live'))
      const about = { id: `whs_${n}`, url: 'https://example.com', enabled_events_json, active: 0 }
      const secrets = { secret: Buffer.of(), secret_preview: 'abcd', disabled_reason: null }
      return tx
        .insertInto('webhook_subscriptions')
        .values({ ...about, ...secrets, created_at: n, updated_at: n })
        .execute()
    },
  },
  'webhookSubscriptions.deliveries': {
    path: `/v2/webhook-subscriptions/${HOOK}/deliveries`,
    insert: (tx, n, text) => {
      const about = { id: `whd_${n}`, subscription_id: HOOK, event_id: 'evt', attempt: 1, status: 'failed' }
      const outcome = { response_code: null, duration_ms: null, error: text, next_attempt_at: null, created_at: n }
      return tx
        .insertInto('webhook_deliveries')
        .values({ ...about, ...outcome })
        .execute()
    },
  },
  'auditEntries.list': {
    path: '/v2/audit-entries',
    insert: async (tx, n, text) => {
      const { value: sequence } = await tx
        .updateTable('counters')
        .set((row) => ({ value: row('value', '+', 1) }))
        .where('name', '=', 'audit')
        .returning('value')
        .executeTakeFirstOrThrow()
      const about = { at: n, action: 'signer.paused', signer: null, api_key_id: 'k', request_id: 'r' }
      const hashes = { previous_hash: '0'.repeat(64), hash: '0'.repeat(64), seal: '0'.repeat(64) }
      return tx
        .insertInto('audit_entries')
        .values({ sequence, ...about, ...hashes, details_json: text })
        .execute()
    },
  },
  'apiKeys.list': {
    path: '/v2/api-keys',
    insert: (tx, n, text) => {
      const scopes_json = JSON.stringify(Array(Math.ceil(text.length / 13)).fill('fees:claim'))
      const about = { id: `key_${n}`, name: 'n', hash: `${n}`, preview: 'svc_live_', scopes_json, revoked_at: n }
      const limits = { per_minute: 1, per_day: 1, status: 'revoked' as const, created_at: n }
      return tx
        .insertInto('api_keys')
        .values({ ...about, ...limits })
        .execute()
    },
  },
}

function feeClaim(tx: Tx, n: number, text: string): Promise<unknown> {
  const about = { type: 'fee_claim.executed' as const, pool_address: MINT, signature: null, occurred_at: n }
  return tx
    .insertInto('fee_claims')
    .values({ id: `fc_${n}`, ...about, recipients_json: null, ...recorded(n, text) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const textOf = (mebibytes: number) => JSON.stringify({ note: 'x'.repeat(mebibytes * MIB) })

describe('rows of many MiB that an earlier version stored', () => {
  const folder = makeSharedFolder('svc-')
  let service: Service
  beforeAll(async () => {
    service = await openService({ dataDir: folder })
    genesis = await service.services.chain.genesisHash()
    const { store } = service.services
    for (const n of SIZES.keys()) {
      const body = { mint: MINT, airdrop_count: n, entries: entries(3) }
      expect((await service.request('POST', '/v2/merkle-trees', { body })).status).toBe(201)
    }
    const hook = await service.request('POST', '/v2/webhook-subscriptions', {
      body: { url: 'https://example.com', enabled_events: ['pool.live'] },
    })
    await store.write((tx) =>
      tx.updateTable('webhook_subscriptions').set({ id: HOOK }).where('id', '=', hook.json.data.id).execute(),
    )
    for (const [name, { insert }] of Object.entries(ROWS)) {
      if (!inSoak && ![...SAMPLE, 'merkleTrees.list', 'goldLocks.list'].includes(name)) continue
      for (const [n, size] of SIZES.entries()) await store.write((tx) => insert(tx, n, textOf(size)))
    }
  })
  afterAll(async () => {
    await service.close()
    removeFolder(folder)
  })

  /** Their rows hold no text of any length that a request or the chain may choose. */
  const bounded = [
    'pools.presets',
    'pools.trades',
    'airdrops.claims',
    'merkleTrees.entries',
    'holderSnapshots.holders',
    'locks.list',
    'ledger.list',
    'ledger.summary',
    'attention.list',
    'consoleSessions.list',
  ]
  const open = lists.filter(([name]) => !bounded.includes(name) && (inSoak || SAMPLE.includes(name)))

  it.each(open.map(([name]) => name))(
    'are listed to the last page, with at most about 8 MiB a page: %s',
    { tags: 'sampled' },
    async (name) => {
      const { path } = ROWS[name]!
      const key = await service.key({ scopes: ['*'] })
      let [cursor, pages, found]: [string | null, number, number] = [null, 0, 0]
      do {
        const question = `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor === null ? '' : `&cursor=${cursor}`}`
        const { status, json, text } = await service.request('GET', question, { key })
        expect([status, text.length > 0 && json.error]).toEqual([200, undefined])
        expect(json.meta).toMatchObject({ count: json.data.length, has_more: json.meta.next_cursor !== null })
        if (json.data.length > 1) expect(text.length).toBeLessThan(PAGE_BYTES + MIB)
        found += json.data.length
        cursor = json.meta.next_cursor
        pages++
        expect(json.data.length > 0 || cursor === null).toBe(true)
      } while (cursor !== null)
      expect(found).toBeGreaterThanOrEqual(SIZES.length)
      // A list whose records do not show the text may put more of them onto a page, but never reads it all at once.
      expect(pages).toBeGreaterThan(2)
    },
  )

  it('are taken by workers in batches that fit into memory', async () => {
    const { db } = service.services.store
    const bytes = (rows: { metadata_json: string | null }[]) =>
      rows.reduce((sum, { metadata_json }) => sum + (metadata_json?.length ?? 0), 0)
    const due = [
      await duePools(db, genesis, 1, 100),
      await dueAirdrops(db, service.clock.now(), 100),
      await dueGoldLocks(db, { genesis, chainNow: 1, now: 1, limit: 100 }),
    ]
    for (const rows of due) {
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.length).toBeLessThan(SIZES.length)
      expect(bytes(rows)).toBeLessThan(PAGE_BYTES)
    }
    expect((await auditWalk({ vault: service.services.vault, onBegin() {}, onEntry() {} }).forward(db)).entries).toBe(1)
  })
})
