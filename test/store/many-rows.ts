/** Fills every listed table with rows of which about one in a hundred has what a filter asks for. */
import { type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../src/store/schema.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { LEAST_TRANSACTION } from './rows.ts'

/** Each filter of a table picks its own rows: hardly one has what two of them ask for. */
const SHARES = [101, 103, 107]

/** A literal where the row is of that share, otherwise another one. */
const either = (turn: number, wanted: string, other: string) =>
  sql`case when n % ${sql.lit(SHARES[turn]!)} = 0 then ${sql.lit(wanted)} else ${sql.lit(other)} end`

type Columns = Record<string, RawBuilder<unknown>>
const text = (prefix: string) => sql`${sql.lit(`${prefix}-`)} || n`

/** Values of every column without a default, by table; `wanted` holds what the filters will ask for. */
const columnsOf = (
  kind: Store['kind'],
  wanted: Record<string, string>,
  rows: number,
): Partial<Record<keyof Tables, Columns>> => {
  const by = (turn: number, filter: string, other = 'other') => either(turn, wanted[filter]!, other)
  const [zero, n, none] = [sql`0`, sql`n`, sql`'x'`]
  const bytes = (hex: string) => sql.raw(kind === 'sqlite' ? `x'${hex}'` : `'\\x${hex}'::bytea`)
  const blob = bytes('00')
  return {
    events: {
      sequence: n,
      id: text('evt'),
      type: by(0, 'type', 'pool.created'),
      resource_type: by(1, 'resource_type'),
      resource_id: by(2, 'resource_id'),
      object_json: sql`'{}'`,
      dedupe_key: text('key'),
      created_at: n,
      latest_at: n,
    },
    audit_entries: {
      // The first is that of the operator's key.
      sequence: sql`${n} + 1`,
      at: n,
      action: by(0, 'action'),
      api_key_id: none,
      request_id: none,
      details_json: sql`'{}'`,
      previous_hash: none,
      hash: none,
      seal: none,
    },
    pools: {
      address: text('pool'),
      type: by(0, 'pool_type', 'damm_v2'),
      status: by(1, 'pool_status', 'live'),
      creator: by(2, 'creator'),
      base_mint: text('mint'),
      symbol: sql`'CN' || n`,
      quote_mint: none,
      genesis: none,
      next_check_at: n,
      created_at: n,
    },
    nfts: {
      asset: text('asset'),
      owner: by(0, 'owner'),
      collection: by(1, 'collection'),
      name: none,
      uri: none,
      status: sql`'minted'`,
      frozen: zero,
      created_at: n,
    },
    pay_requests: {
      id: text('pay'),
      api_key_id: none,
      method: sql`'POST'`,
      path: none,
      body_json: sql`'{}'`,
      url: sql`'https://example.com'`,
      reference: none,
      genesis: none,
      state: sql`'open'`,
      builds: zero,
      recent_builds_json: sql`'[]'`,
      held_until: zero,
      expires_at: n,
      created_at: n,
    },
    stakes: {
      asset: text('asset'),
      owner: by(0, 'owner'),
      collection: by(1, 'collection'),
      status: by(2, 'stake_status', 'burned'),
      created_at: n,
    },
    gold_locks: {
      escrow: text('escrow'),
      user: by(0, 'user'),
      status: by(1, 'lock_status', 'unlocked'),
      mint: none,
      amount: sql`'1'`,
      unlocks_at: n,
      signature: text('signature'),
      slot: n,
      genesis: none,
      next_check_at: n,
      created_at: n,
    },
    proposals: {
      id: text('proposal'),
      kind: by(0, 'proposal_kind', 'rule'),
      genesis: none,
      status: by(1, 'proposal_status', 'executed'),
      operation: none,
      what: none,
      message: bytes(LEAST_TRANSACTION.toString('hex')),
      message_sha256: text('message'),
      approver_json: sql`'{"kind":"squads","members":[]}'`,
      multisig: by(2, 'multisig'),
      transaction_index: n,
      needed: zero,
      next_look_at: sql`case when n % 100 = 0 then n end`,
      created_at: n,
      updated_at: n,
    },
    tokens: {
      mint: text('mint'),
      status: by(0, 'token_status', 'created'),
      token_program: none,
      raw_json: sql`'{}'`,
      symbol: sql`'CN' || n`,
      created_at: n,
    },
    transactions: {
      signature: text('signature'),
      raw: blob,
      lifecycle: by(0, 'lifecycle', 'finalized'),
      slot: n,
      confirmations: zero,
      created_at: n,
      tracked_id: text('pool'),
      bundle_id: text('bundle'),
      external_uid: text('order'),
      genesis: none,
      next_check_at: sql`case when n % 100 = 0 then n end`,
      next_send_at: sql`case when n % 100 = 0 then n end`,
    },
    merkle_trees: {
      id: text('tree'),
      mint: by(0, 'mint'),
      airdrop_count: n,
      root: none,
      leaf_count: zero,
      total: sql`'0'`,
      list_sha256: none,
      status: sql`'initialized'`,
      next_check_at: n,
      created_at: n,
    },
    airdrop_claims: {
      genesis: sql.lit(wanted.genesis ?? 'x'),
      airdrop_id: by(0, 'tree_id'),
      wallet: text('wallet'),
      kind: sql`'claim'`,
      amount: sql`'1'`,
      amount_locked: sql`'0'`,
      size: sql`substr('0000000000000000000' || n, length('' || n), 20)`,
      signature: text('signature'),
      slot: n,
      claimed_at: n,
      dedupe_by: none,
    },
    airdrop_claim_totals: {
      genesis: sql.lit(wanted.genesis ?? 'x'),
      airdrop_id: by(0, 'tree_id'),
      hour: n,
      claims: sql`1`,
      wallets: sql`1`,
      amount_high: zero,
      amount_low: sql`1`,
      locked_high: zero,
      locked_low: zero,
    },
    airdrop_claim_figures: {
      genesis: sql.lit(wanted.genesis ?? 'x'),
      airdrop_id: text('tree'),
      claims: sql`2`,
      median_size: sql`'00000000000000000001'`,
      median_seq: sql`1`,
    },
    fee_claims: {
      id: text('claim'),
      type: sql`'fee_claim.executed'`,
      pool_address: by(0, 'pool_address'),
      kind: by(1, 'claim_kind'),
      beneficiary: by(2, 'beneficiary'),
      occurred_at: n,
      created_at: n,
    },
    ledger_entries: {
      genesis: sql.lit(wanted.genesis ?? 'x'),
      signature: text('signature'),
      slot: n,
      occurred_at: n,
      latest_at: n,
      month: sql`'2026-11'`,
      account: text('account'),
      owner: by(0, 'ledger_owner'),
      token: by(1, 'ledger_token'),
      decimals: zero,
      amount: sql`'1'`,
      amount_high: zero,
      amount_low: sql`1`,
      kind: sql`case when n % 109 = 0 then 'claim' else 'trade' end`,
      party: sql`case when n % 113 = 0 then 'creator' else 'trader' end`,
      pool: by(2, 'ledger_pool'),
      created_at: n,
    },
    ledger_transactions: {
      genesis: none,
      signature: text('signature'),
      status: sql`'written'`,
      failed: zero,
      next_try_at: sql`case when n % 100 = 0 then n end`,
      created_at: n,
    },
    fee_schedules: {
      id: text('schedule'),
      cron: none,
      timezone: none,
      terms_json: sql`'{}'`,
      active: sql`case when n % 100 = 0 then 1 else 0 end`,
      next_run_at: sql`case when n % 100 = 0 then n end`,
      planned_at: n,
      created_by: none,
      updated_by: none,
      created_at: n,
      updated_at: n,
    },
    fee_schedule_runs: {
      id: text('run'),
      schedule_id: by(0, 'subscription_id'),
      scheduled_at: n,
      status: sql`'done'`,
      created_at: n,
      ended_at: n,
    },
    holder_snapshots: {
      id: text('hsn'),
      address: by(0, 'address'),
      slot: n,
      supply: none,
      accounts: zero,
      holders: zero,
      withheld: none,
      confidential: none,
      owners: none,
      kinds_json: sql`'[]'`,
      programs_json: sql`'[]'`,
      pieces: sql`1`,
      holders_sha256: none,
      created_at: n,
    },
    holder_pieces: { snapshot_id: text('hsn'), n: zero, bytes: blob },
    fee_schedule_claims: { run_id: text('run'), pool_address: text('pool'), kind: none, state: none },
    sponsorships: {
      airdrop_id: text('airdrop'),
      enabled: sql`1`,
      budget: none,
      used: none,
      created_by: none,
      updated_by: none,
      created_at: n,
      updated_at: n,
    },
    sponsored_claims: {
      id: text('spc'),
      airdrop_id: sql`'airdrop-' || n % 20`,
      wallet: text('wallet'),
      genesis: none,
      signing_id: text('sgn'),
      signature: text('signature'),
      lamports: sql`'1'`,
      fee: sql`'1'`,
      status: sql`case when n % 100 = 0 then 'submitted' when n % 100 = 1 then 'signing' else 'landed' end`,
      live: sql`1`,
      created_at: n,
      settled_at: sql`case when n % 100 > 1 then n end`,
    },
    webhook_subscriptions: {
      id: text('whs'),
      url: sql`'https://a.test/hook'`,
      enabled_events_json: sql`'["*"]'`,
      active: sql`case when n % 100 = 0 then 1 else 0 end`,
      secret: blob,
      secret_preview: none,
      cursor: sql.lit(rows),
      created_at: n,
      updated_at: n,
    },
    webhook_deliveries: {
      id: text('whd'),
      subscription_id: by(0, 'subscription_id'),
      event_id: text('evt'),
      attempt: sql`1`,
      status: sql`'failed'`,
      created_at: n,
    },
    webhook_queue: {
      subscription_id: by(0, 'subscription_id'),
      event_id: text('evt'),
      sequence: n,
      resource: text('pool'),
      state: sql`'waiting'`,
      attempts: sql`n % 3`,
      next_attempt_at: n,
      claimed_until: zero,
    },
    idempotency_keys: {
      api_key_id: none,
      key: text('key'),
      request_hash: none,
      state: sql`'done'`,
      owner: none,
      lease_until: zero,
      created_at: n,
      expires_at: n,
    },
    rate_hits: { api_key_id: text('key'), at: n, count: sql`1`, total: n },
  }
}

/** Takes the limits of a session off one transaction, for rows by the hundred thousand. */
export async function unlimited({ kind }: Store, tx: Tx): Promise<void> {
  if (kind === 'sqlite') return
  await sql`select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'transaction_timeout')`.execute(
    tx,
  )
}

export async function fill(store: Store, wanted: Record<string, string>, rows: number): Promise<void> {
  const numbers = sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(rows)})`
  await store.write(async (tx) => {
    for (const [table, columns] of Object.entries(columnsOf(store.kind, wanted, rows))) {
      const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)))
      await sql`insert into ${sql.table(table)} (${names}) ${numbers} select ${sql.join(Object.values(columns))} from numbers`.execute(
        tx,
      )
    }
  })
  // Only what PostgreSQL knows of its tables makes it choose as it would with many rows.
  if (store.kind === 'postgres') await store.write((tx) => sql`analyze`.execute(tx))
}
