/** Converts rows of the store to the records of the API, and makes the verbs that only read them. */
import type {
  Airdrop,
  AirdropClaimRecord,
  ApiKey,
  AuditEntry,
  Event,
  FeeClaim,
  GoldLock,
  LedgerEntry,
  Nft,
  Pool,
  Stake,
  StoredSubscription,
  Token,
  TreeRecord,
  WebhookDelivery,
  WebhookSubscription,
} from '../api/index.ts'
import type { AnyRoute, Data, Input, Page, Result } from '../api/route.ts'
import type { Context } from '../context.ts'
import { notFound } from '../platform/errors.ts'
import { isoTime } from '../platform/timing.ts'
import type { AppendedEvent } from '../store/events/events.ts'
import type { StoredPage } from '../store/queries/paging.ts'
import type { Row } from '../store/schema.ts'
import type { Reader } from '../store/store.ts'
import { receiverStates } from '../store/webhooks/deliveries.ts'

/** Converts a page of rows to a page of records. */
export function recordPage<R, T>(page: StoredPage<R>, record: (row: R) => T): Page<T> {
  return { items: page.rows.map(record), next_cursor: page.next_cursor }
}

/** Returns the record, or throws not_found naming the requested id. */
export function requireRecord<T>(record: T | null, what: string, id: string): T {
  if (record === null) throw notFound(`There is no ${what} ${id}`)
  return record
}

/**
 * Makes the operation of a list that is stored.
 *
 * @example
 * export const listNfts = listOf<Api['nfts']['list'], Row<'nfts'>>(pageNfts, nftRecord)
 */
export function listOf<R extends AnyRoute, T>(
  page: (reader: Reader, input: Input<R>) => Promise<StoredPage<T>>,
  record: (row: T) => Data<R>,
): (context: Pick<Context, 'store'>, input: Input<R>) => Promise<Page<Data<R>>> {
  return async ({ store }, input) => recordPage(await page(store.db, input), record)
}

/** The store writes whether something is active as 0 or 1. */
export const flagFilter = ({ active }: { active?: boolean | undefined }): { active?: 0 | 1 } =>
  active === undefined ? {} : { active: active ? 1 : 0 }

/** Makes the operation that reads one stored record by its id. `what` names it in the error when there is none. */
export function oneOf<R extends AnyRoute, T>(
  what: string,
  find: (reader: Reader, id: string) => Promise<T | null>,
  record: (row: T) => Result<R>,
): (context: Pick<Context, 'store'>, input: Input<R> & { id: string }) => Promise<Result<R>> {
  return async ({ store }, { id }) => record(requireRecord(await find(store.db, id), what, id))
}

export const isoTimeOrNull = (milliseconds: number | null) => (milliseconds === null ? null : isoTime(milliseconds))
export const fromJson = <T>(text: string): T => JSON.parse(text) as T
export const fromJsonOrNull = <T>(text: string | null): T | null => (text === null ? null : fromJson<T>(text))

/** What other tables have of an API key. */
interface KeyHistory {
  previous?: readonly Row<'previous_api_keys'>[] | undefined
  use?: Row<'api_key_uses'> | undefined
}

export const apiKeyRecord = (row: Omit<Row<'api_keys'>, 'seq'>, { previous = [], use }: KeyHistory = {}): ApiKey => ({
  id: row.id,
  name: row.name,
  preview: row.preview,
  scopes: fromJson<ApiKey['scopes']>(row.scopes_json),
  rate_limit_per_minute: row.per_minute,
  rate_limit_per_day: row.per_day,
  status: row.status,
  created_at: isoTime(row.created_at),
  revoked_at: isoTimeOrNull(row.revoked_at),
  expires_at: isoTimeOrNull(row.expires_at),
  allow_ips: fromJsonOrNull<string[]>(row.allow_ips_json) ?? [],
  rotated_at: latest(previous.map(({ rotated_at }) => rotated_at)),
  previous_key_expires_at: latest(previous.map(({ expires_at }) => expires_at)),
  last_used_at: isoTimeOrNull(use?.used_at ?? null),
  last_used_from: use?.used_from ?? null,
})

const latest = (times: readonly number[]) => (times.length === 0 ? null : isoTime(Math.max(...times)))

export const auditEntryRecord = (row: Row<'audit_entries'>): AuditEntry => ({
  sequence: row.sequence,
  at: isoTime(row.at),
  action: row.action as AuditEntry['action'],
  signer: row.signer,
  api_key_id: row.api_key_id,
  request_id: row.request_id,
  details: fromJson<AuditEntry['details']>(row.details_json),
  details_json: row.details_json,
  previous_hash: row.previous_hash,
  hash: row.hash,
  seal: row.seal,
})

/** The record that GET /v2/events returns and that webhooks deliver, with the same bytes on every attempt. */
export const eventRecord = (row: AppendedEvent): Event => ({
  id: row.id,
  type: row.type as Event['type'],
  api_version: '2.0',
  created: Math.floor(row.created_at / 1000),
  data: {
    object: { resource_type: row.resource_type, resource_id: row.resource_id, ...fromJson<object>(row.object_json) },
  },
  ...(row.external_uid === null ? {} : { external_uid: row.external_uid }),
  ...(row.metadata_json === null ? {} : { metadata: fromJson<Record<string, string>>(row.metadata_json) }),
  sequence: row.sequence,
})

type TreeRow = Omit<
  Row<'merkle_trees'>,
  | 'seq'
  | 'distributor'
  | 'genesis'
  | 'next_check_at'
  | 'drained_at'
  | 'leaves_removed_at'
  | 'vault_lacks'
  | 'vault_lacks_since'
  | 'mint_decimals'
>

export const merkleTreeRecord = (row: TreeRow): TreeRecord => ({
  id: row.id,
  mint: row.mint,
  airdrop_count: row.airdrop_count,
  root: row.root,
  root_hex: `0x${row.root}`,
  leaf_count: row.leaf_count,
  total: row.total,
  total_locked: row.total_locked,
  list_sha256: row.list_sha256,
  persisted: true,
  created_by: row.created_by,
  created_at: isoTime(row.created_at),
})

type AirdropBase = Pick<
  Airdrop,
  'id' | 'mint' | 'airdrop_count' | 'root' | 'leaf_count' | 'status' | 'created_at' | 'total' | 'total_locked'
>

/** Returns the stored part of an airdrop, as its events contain it. */
export const storedAirdrop = (row: Row<'merkle_trees'>): AirdropBase => ({
  id: row.id,
  mint: row.mint,
  airdrop_count: row.airdrop_count,
  root: row.root,
  leaf_count: row.leaf_count,
  status: row.status,
  created_at: isoTime(row.created_at),
  total: row.total,
  total_locked: row.total_locked,
})

/**
 * Returns a stored airdrop as it appears in lists. Fields that only the chain has are null until they are read there.
 */
export const airdropRecord = (row: Row<'merkle_trees'>): Airdrop => ({
  ...storedAirdrop(row),
  own: null,
  distributor: null,
  on_chain_root: null,
  admin: null,
  vault: null,
  vault_balance: null,
  vault_lacks: null,
  claimed_count: null,
  claimed_amount: null,
  starts_at: null,
  ends_at: null,
  clawback_at: null,
  clawback_receiver: null,
  clawed_back: null,
  note: null,
})

/** Returns the stored part of a pool. Fields that only the chain has are null until they are read there. */
export const poolRecord = (row: Row<'pools'>): Pool => ({
  type: row.type,
  address: row.address,
  base_mint: row.base_mint,
  quote_mint: row.quote_mint,
  config: row.config,
  creator: row.creator,
  name: row.name,
  symbol: row.symbol,
  metadata_uri: row.metadata_uri,
  status: row.status,
  curve_progress: null,
  state: null,
  fee_metrics: null,
  created_at: isoTime(row.created_at),
  metadata: fromJsonOrNull(row.metadata_json),
})

export const feeClaimRecord = (row: Row<'fee_claims'>): FeeClaim => ({
  id: row.id,
  type: row.type,
  pool_address: row.pool_address,
  kind: row.kind,
  beneficiary: row.beneficiary,
  claimer: row.claimer,
  signature: row.signature,
  occurred_at: isoTime(row.occurred_at),
  external_uid: row.external_uid,
  metadata: fromJsonOrNull(row.metadata_json),
})

/** A claim with the amounts that it moved, which are known once its transaction is final. */
export const feeClaimBooked = (row: Row<'fee_claims'>): FeeClaim => ({
  ...feeClaimRecord(row),
  quote: row.quote_amount,
  base: row.base_amount,
  sol: row.lamports,
  received:
    fromJsonOrNull<NonNullable<FeeClaim['received']>>(row.received_json)?.map(({ token, ...share }) => ({
      ...share,
      token: tokenName(token),
    })) ?? null,
})

/** SOL has no mint. */
const tokenName = (token: string) => (token === '' ? 'SOL' : token)

export const ledgerEntryRecord = (row: Row<'ledger_entries'>): LedgerEntry => ({
  sequence: row.seq,
  signature: row.signature,
  slot: row.slot,
  occurred_at: isoTime(row.occurred_at),
  account: row.account,
  owner: row.owner,
  party: row.party as LedgerEntry['party'],
  kind: row.kind as LedgerEntry['kind'],
  detail: row.detail,
  token: tokenName(row.token),
  symbol: row.symbol,
  decimals: row.decimals,
  amount: row.amount,
  balance_after: row.balance_after,
  counterparty: row.counterparty,
  pool: row.pool,
  price: row.price,
  price_currency: row.price_currency,
  price_source: row.price_source,
})

export const tokenRecord = (row: Row<'tokens'>): Token => ({
  mint: row.mint,
  status: row.status,
  raw: fromJsonOrNull(row.raw_json),
})

export const nftRecord = (row: Row<'nfts'>): Nft => ({
  asset: row.asset,
  collection: row.collection,
  owner: row.owner,
  name: row.name,
  uri: row.uri,
  status: row.status,
  frozen: row.frozen === 1,
  created_at: isoTime(row.created_at),
})

export const stakeRecord = (row: Row<'stakes'>): Stake => ({
  asset: row.asset,
  collection: row.collection,
  owner: row.owner,
  status: row.status,
  platform_id: row.platform_id,
  metadata: fromJsonOrNull(row.metadata_json),
})

export const goldLockRecord = (row: Row<'gold_locks'>): GoldLock => ({
  user: row.user,
  mint: row.mint,
  amount: row.amount,
  unlocks_at: isoTime(row.unlocks_at),
  status: row.status,
  escrow: row.escrow,
  created_at: isoTime(row.created_at),
})

/** The record without the state of its receiver, as its test event has it. */
export const storedSubscription = (row: Row<'webhook_subscriptions'>): StoredSubscription => ({
  id: row.id,
  url: row.url,
  enabled_events: fromJson<StoredSubscription['enabled_events']>(row.enabled_events_json),
  filter: fromJsonOrNull<StoredSubscription['filter']>(row.filter_json),
  active: row.active === 1,
  commitment: row.commitment,
  secret_preview: row.secret_preview,
  disabled_reason: row.disabled_reason,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})

/** The records of subscriptions, with the states of their receivers from one query. */
export async function webhookSubscriptionRecords(
  reader: Reader,
  rows: readonly Row<'webhook_subscriptions'>[],
): Promise<WebhookSubscription[]> {
  const states = await receiverStates(
    reader,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const state = states.get(row.id)
    return {
      ...storedSubscription(row),
      failing_since: isoTimeOrNull(state?.failing_since ?? null),
      next_attempt_at: isoTimeOrNull(row.active === 1 ? (state?.next_attempt_at ?? null) : null),
      last_attempt_at: isoTimeOrNull(state?.last_attempt_at ?? null),
      last_status: state?.last_status ?? null,
      last_response_code: state?.last_response_code ?? null,
    }
  })
}

export async function webhookSubscriptionRecord(
  reader: Reader,
  row: Row<'webhook_subscriptions'>,
): Promise<WebhookSubscription> {
  const [record] = await webhookSubscriptionRecords(reader, [row])
  if (record === undefined) throw new Error('a row has no record')
  return record
}

export const webhookDeliveryRecord = (row: Row<'webhook_deliveries'>): WebhookDelivery => ({
  id: row.id,
  event_id: row.event_id,
  attempt: row.attempt,
  status: row.status as WebhookDelivery['status'],
  response_code: row.response_code,
  duration_ms: row.duration_ms,
  error: row.error,
  response_body: row.response_body,
  next_attempt_at: isoTimeOrNull(row.next_attempt_at),
  created_at: isoTime(row.created_at),
})

export const airdropClaimRecord = (row: Row<'airdrop_claims'>): AirdropClaimRecord => ({
  airdrop_id: row.airdrop_id,
  wallet: row.wallet,
  amount: row.amount,
  amount_locked: row.amount_locked,
  signature: row.signature,
  slot: row.slot,
  claimed_at: isoTime(row.claimed_at),
})
