/**
 * The schema of both databases: its tables, and the migrations that create them. Times are Unix milliseconds, booleans
 * are 0 or 1, and `*_json` columns are JSON text.
 */
import type { Insertable, Selectable } from 'kysely'
import type { AirdropTables } from './airdrops/tables.ts'
import type { AttentionTables } from './attention/tables.ts'
import type { AuditTables } from './audit/tables.ts'
import type { EventTables } from './events/tables.ts'
import type { FeeTables } from './fees/tables.ts'
import type { FollowingTables } from './following/tables.ts'
import type { InstallationTables } from './installation/tables.ts'
import type { LedgerTables } from './ledger/tables.ts'
import { first } from './migrations/0001-first/index.ts'
import { crankError } from './migrations/0002-crank-error.ts'
import { submittedSignature } from './migrations/0003-submitted-signature.ts'
import { proposals } from './migrations/0004-proposals.ts'
import { payRequests } from './migrations/0005-pay-requests.ts'
import { transactionSearch } from './migrations/0006-transaction-search.ts'
import { attention } from './migrations/0007-attention.ts'
import { consoleSessions } from './migrations/0009-console.ts'
import { symbolSearch } from './migrations/0011-symbol-search.ts'
import { apiKeyTerms } from './migrations/0012-api-keys.ts'
import { webhookFilters } from './migrations/0013-webhook-filters.ts'
import { attentionNotices } from './migrations/0014-attention-notices.ts'
import { vaultShortages } from './migrations/0015-vault-shortages.ts'
import { raises } from './migrations/0016-raises.ts'
import { raiseAllowlists } from './migrations/0017-raise-allowlists.ts'
import type { SchemaDialect, SteppedMigration } from './migrations/dialect.ts'
import type { ProposalTables } from './proposals/tables.ts'
import type { RequestTables } from './requests/tables.ts'
import type { PayRequestTables } from './resources/pay-requests-table.ts'
import type { ResourceTables } from './resources/tables.ts'
import type { SigningTables } from './signing/tables.ts'
import type { TransactionTables } from './transactions/tables.ts'
import type { WebhookTables } from './webhooks/tables.ts'
import type { WorkerTables } from './workers/tables.ts'

export interface Tables
  extends AirdropTables,
    AttentionTables,
    AuditTables,
    EventTables,
    FeeTables,
    FollowingTables,
    InstallationTables,
    LedgerTables,
    ProposalTables,
    PayRequestTables,
    RequestTables,
    ResourceTables,
    SigningTables,
    TransactionTables,
    WebhookTables,
    WorkerTables {}

/** Every table, those that others refer to first. */
const TABLE_NAMES: Record<keyof Tables, true> = {
  api_keys: true,
  previous_api_keys: true,
  api_key_uses: true,
  rate_hits: true,
  idempotency_keys: true,
  console_sessions: true,
  events: true,
  removed_event_keys: true,
  counters: true,
  settings: true,
  pools: true,
  raises: true,
  raise_allowlists: true,
  raise_allowlist_pieces: true,
  tickers: true,
  shared_configs: true,
  fee_claims: true,
  fee_schedules: true,
  fee_schedule_runs: true,
  fee_schedule_claims: true,
  sponsorships: true,
  sponsored_claims: true,
  merkle_trees: true,
  merkle_blobs: true,
  holder_snapshots: true,
  holder_pieces: true,
  tokens: true,
  nfts: true,
  stakes: true,
  gold_locks: true,
  transactions: true,
  refreshed_messages: true,
  pay_requests: true,
  webhook_subscriptions: true,
  webhook_deliveries: true,
  webhook_queue: true,
  webhook_replays: true,
  webhook_removals: true,
  leases: true,
  signer_policies: true,
  signings: true,
  signer_spends: true,
  proposals: true,
  proposal_decisions: true,
  approvers: true,
  audit_entries: true,
  audit_anchors: true,
  assets: true,
  asset_pieces: true,
  followed_accounts: true,
  chain_transactions: true,
  ledger_transactions: true,
  ledger_entries: true,
  ledger_totals: true,
  airdrop_claims: true,
  airdrop_claim_totals: true,
  airdrop_claim_figures: true,
  attention_snoozes: true,
  attention_observations: true,
  attention_notices: true,
  attention_receivers: true,
}
export const TABLES = Object.keys(TABLE_NAMES) as (keyof Tables)[]

/** Whether a new database has no rows in the table, so that rows show that the database is in use. */
export const isEmptyWhenNew = (table: keyof Tables): boolean => table !== 'settings' && table !== 'counters'

/** The migrations in order. From 0.1.0 on, one that was released is never changed, removed or moved. */
export const MIGRATIONS: Record<string, (dialect: SchemaDialect) => SteppedMigration> = {
  '0001-first': first,
  '0002-crank-error': crankError,
  '0003-submitted-signature': submittedSignature,
  '0004-proposals': proposals,
  '0005-pay-requests': payRequests,
  '0006-transaction-search': transactionSearch,
  '0007-attention': attention,
  '0009-console': consoleSessions,
  '0011-symbol-search': symbolSearch,
  '0012-api-keys': apiKeyTerms,
  '0013-webhook-filters': webhookFilters,
  '0014-attention-notices': attentionNotices,
  '0015-vault-shortages': vaultShortages,
  '0016-raises': raises,
  '0017-raise-allowlists': raiseAllowlists,
}

/** Names of all migrations of this program, in order. */
export const migrationNames = (): string[] => Object.keys(MIGRATIONS)

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
