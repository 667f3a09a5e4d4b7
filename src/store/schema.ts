/** The tables as types: what both databases hold. Times are Unix milliseconds, booleans 0 or 1, `*_json` columns JSON text. */
import type { Generated, Insertable, Selectable } from 'kysely'

/** Columns of every listed record: its place in the order of creation, and what the originating write sent along. */
interface Recorded {
  seq: Generated<number>
  external_uid: string | null
  metadata_json: string | null
  created_at: number
}

export interface ApiKeysTable {
  seq: Generated<number>
  id: string
  name: string
  /** SHA-256 of the key in hex; the key itself is stored nowhere. */
  hash: string
  /** First characters, enough to recognise a key in a list. */
  preview: string
  scopes_json: string
  /** Null: unlimited (the local operator's key). */
  per_minute: number | null
  per_day: number | null
  status: 'active' | 'revoked'
  created_at: number
  revoked_at: number | null
}

/** Admitted requests of one key, at most one row per flush, stamped with the latest of them. */
export interface RateHitsTable {
  api_key_id: string
  at: number
  count: number
}

export interface IdempotencyKeysTable {
  api_key_id: string
  key: string
  /** SHA-256 over method, path and body. */
  request_hash: string
  state: 'running' | 'done'
  /** Process that runs it, and until when it is believed to live without renewing. */
  owner: string
  lease_until: number
  /** The signing (`sgn_…`) that a request with this key intended; a retry ends that one and begins no other. */
  signing_id: string | null
  status: number | null
  /** Sealed response body. */
  response: Buffer | null
  created_at: number
  expires_at: number
}

export interface EventsTable {
  /** Gapless and monotone per database. */
  sequence: number
  id: string
  type: string
  resource_type: string
  resource_id: string
  object_json: string
  external_uid: string | null
  metadata_json: string | null
  /** (type, resource, signature): the same event seen twice is one event. */
  dedupe_key: string
  created_at: number
  /** Latest `created_at` of all events up to this one: it never falls along the sequence, whatever a clock did. */
  latest_at: number
}

export interface CountersTable {
  name: string
  value: number
}

export interface SettingsTable {
  name: string
  value: string
}

export interface PoolsTable extends Recorded {
  address: string
  type: 'dbc' | 'damm_v2'
  base_mint: string
  quote_mint: string
  config: string | null
  creator: string | null
  name: string | null
  symbol: string | null
  metadata_uri: string | null
  status: 'pending' | 'live' | 'migration_triggered' | 'migrated' | 'failed'
  /** Name of the curve that it was launched with. */
  preset: string | null
  /** Of a launch curve: the pool that it migrated to. */
  migrated_to: string | null
  /** Of a pool that a launch curve migrated to: that curve. */
  dbc_pool: string | null
  /** Genesis hash of its chain. */
  genesis: Generated<string>
  /** When to look at it again; null once nothing more can happen. */
  next_check_at: number | null
  /** Signing of the migration transaction that was last intended, and its signature once there is one. */
  crank_signing: string | null
  crank_signature: string | null
  /** Migration transactions that failed. */
  crank_failures: Generated<number>
  /** When the transaction that creates it was submitted here; null for one that was not. */
  submitted_at: Generated<number | null>
}

/** The last pool of each ticker, upper case. */
export interface TickersTable {
  symbol: string
  pool_address: string
  taken_at: number
}

export interface FeeClaimsTable extends Recorded {
  id: string
  type: 'fee_claim.executed' | 'fee_claim.split_executed'
  pool_address: string
  signature: string | null
  recipients_json: string | null
  occurred_at: number
}

export interface MerkleTreesTable extends Recorded {
  id: string
  mint: string
  airdrop_count: number
  /** Hex, no prefix. */
  root: string
  leaf_count: number
  /** Sum of all amounts, digits. */
  total: string
  list_sha256: string
  /** Airdrop lifecycle: `tree_built` until a distributor is seen on chain. */
  status: 'tree_built' | 'initialized' | 'claiming' | 'fully_claimed' | 'vault_drained'
  /** Account of the airdrop on any chain; null for trees of an earlier version until they are looked at. */
  distributor: string | null
  /** Genesis hash of the chain that `status` was seen on; empty while it is `tree_built`. */
  genesis: Generated<string>
  /** When to look at the distributor again; null once nothing more can happen. */
  next_check_at: number | null
}

/** Bytes of a stored tree, in pieces so that one proof reads little: see `src/merkle`. */
export interface MerkleBlobsTable {
  tree_id: string
  kind: string
  n: number
  bytes: Buffer
}

export interface TokensTable extends Recorded {
  mint: string
  status: 'created' | 'mint_authority_revoked' | 'freeze_authority_revoked' | 'fully_immutable'
  token_program: string
  raw_json: string | null
}

/** When an asset was last seen to change: an older confirmation that comes later changes nothing of its record. */
interface Placed {
  changed_slot: Generated<number>
  /** Place of the transaction among those submitted, within one slot; 0 where the chain itself was read. */
  changed_order: Generated<number>
}

export interface NftsTable extends Recorded, Placed {
  asset: string
  collection: string
  owner: string | null
  name: string
  uri: string
  status: 'minted' | 'burned'
  frozen: number
}

export interface StakesTable extends Recorded, Placed {
  asset: string
  collection: string
  owner: string | null
  status: 'unstaked' | 'staked' | 'burned'
  platform_id: string | null
  /** Who can thaw what the last followed stake froze; null where no followed stake told it. */
  freeze_authority: string | null
  /** Place of the stake that platform id, metadata and external uid are of, as `changed_slot` and `changed_order` have it. */
  said_slot: Generated<number>
  said_order: Generated<number>
}

export interface GoldLocksTable extends Recorded {
  escrow: string
  user: string
  mint: string
  amount: string
  unlocks_at: number
  status: 'locked' | 'unlockable' | 'unlocked'
  /** Of the transaction that locked it, and where it landed: the wallet's next lock is at the same address. */
  signature: string
  slot: number
  /** Genesis hash of the chain that it is on. */
  genesis: string
  /** When to look whether it is still there, once its time has come. */
  next_check_at: number | null
}

export interface TransactionsTable extends Recorded {
  signature: string
  /** The signed bytes, stored before they are sent. */
  raw: Buffer
  lifecycle: 'submitted' | 'processing' | 'confirmed' | 'finalized' | 'failed'
  confirmation_status: string | null
  err_json: string | null
  slot: number
  confirmations: number
  tracked_resource_json: string | null
  /** `resource_id` of what it tracks. */
  tracked_id: string | null
  /** Bundle that it was submitted in; its transactions are only ever sent together. */
  bundle_id: string | null
  /** Given to the RPC node; 0 also stops sending again. */
  max_retries: number
  /** Blockhash of the message, or the value of its durable nonce. */
  blockhash: string
  nonce_account: string | null
  /** Genesis hash of the chain that it was submitted to: no other can say what became of it. Empty until a node has told. */
  genesis: string
  /** A slot that the cluster had reached when it was first looked for; null before. */
  since_slot: number | null
  /** When it was last looked for; 0 before the first time. */
  checked_at: number
  /** When to look for it again; null once nothing more can happen. */
  next_check_at: number | null
  /** When to send it again; null while there is no reason to. */
  next_send_at: number | null
  /** How often the watcher has sent it. */
  sends: number
}

export interface WebhookSubscriptionsTable {
  seq: Generated<number>
  id: string
  /** Key that made it; null for those of an earlier version. */
  api_key_id: string | null
  url: string
  enabled_events_json: string
  active: number
  /** Sealed. */
  secret: Buffer
  secret_preview: string
  /** `[{ secret, until }]`: what was rotated out, sealed and in base64, the newest first; each signs too until its time. */
  previous_secrets_json: Generated<string>
  /** Counts the times that the URL was changed or the subscription switched on: what failed before says nothing any more. */
  receiver_revision: Generated<number>
  disabled_reason: string | null
  /** Events up to this sequence have been looked at for it. */
  cursor: Generated<number>
  created_at: number
  updated_at: number
}

export interface WebhookDeliveriesTable {
  seq: Generated<number>
  id: string
  subscription_id: string
  event_id: string
  attempt: number
  status: string
  response_code: number | null
  duration_ms: number | null
  error: string | null
  next_attempt_at: number | null
  created_at: number
}

/** One event for one subscription, until it is delivered. */
export interface WebhookQueueTable {
  seq: Generated<number>
  subscription_id: string
  event_id: string
  /** Of the event. */
  sequence: number
  /** What the event is about: first attempts about one thing start in order. */
  resource: string
  /** `held`: it failed seven times, and waits for its subscription to be switched on. */
  state: 'waiting' | 'held'
  /** Since it was queued, replayed or resumed. */
  attempts: number
  next_attempt_at: number
  /** A process is at it until then, unless it died. */
  claimed_until: number
}

/** Events of the past that one subscription is to get again, put into its queue step by step; gone once all of them are. */
export interface WebhookReplaysTable {
  seq: Generated<number>
  subscription_id: string
  /** Only events that happened at or after this moment. */
  since: number
  /** Types that the subscription wanted when it was asked for; null: all. */
  types_json: string | null
  /** How far the subscription had come then: what follows comes to it once, by this or by the ordinary way. */
  come_to: number
  /** Events up to this sequence are queued, and those up to `last` will be. */
  through: number
  last: number
  created_at: number
}

/** Subscriptions that were removed, until their queues and the records of their deliveries are gone too. */
export interface WebhookRemovalsTable {
  seq: Generated<number>
  subscription_id: string
  removed_at: number
}

/** Who does a background job. */
export interface LeasesTable {
  name: string
  /** Process that holds it, or held it last. */
  owner: string
  /** 0 once released. */
  until: number
  /** Latest moment of the job's schedule that was given to a process. */
  slot: number
  /** How often it was done to the end, by whatever process. */
  done: Generated<number>
}

/** One per signing key. */
export interface SignerPoliciesTable {
  /** Address of the key. */
  signer: string
  paused: number
  paused_reason: string | null
  /** Amounts are digit strings. */
  policy_json: string
  /** When the day was last reset; 0 before. */
  spend_since: number
  /** `seq` of the last spend before that: it and those before it do not count. */
  spend_mark: number
  updated_at: number
}

/** Messages that the platform's key was, or is about to be, asked to sign. */
export interface SigningsTable {
  seq: Generated<number>
  id: string
  signer: string
  /** What asked for it, for example `signer.test`. */
  operation: string
  /** The wire format with every signature but the platform's. */
  transaction: Buffer
  /** Hex; two requests never have the same message signed, as both would be paid by one. */
  message_sha256: string
  /** Sealed: what the request answers, and how it goes on; of its first signing only. */
  plan: Buffer | null
  genesis: string
  since_slot: number | null
  /** `intended` until the signature is stored; `abandoned` where the provider certainly made none. */
  state: 'intended' | 'signed' | 'abandoned'
  signature: string | null
  created_at: number
}

/** What a signing takes out of the day; gone again where nothing was signed. */
export interface SignerSpendsTable {
  seq: Generated<number>
  signing_id: string
  signer: string
  /** Empty: lamports. */
  mint: string
  /** Digits. */
  amount: string
  at: number
}

/** Append-only; each entry's hash covers the one before. */
export interface AuditEntriesTable {
  /** Gapless from 1. */
  sequence: number
  at: number
  action: string
  signer: string | null
  api_key_id: string
  request_id: string
  details_json: string
  /** SHA-256 in hex; 64 zeros before the first. */
  previous_hash: string
  hash: string
  /** HMAC-SHA256 of `hash` under the vault's key, in hex; null until an upgrade is through. */
  seal: string | null
}

export interface Tables {
  api_keys: ApiKeysTable
  rate_hits: RateHitsTable
  idempotency_keys: IdempotencyKeysTable
  events: EventsTable
  counters: CountersTable
  settings: SettingsTable
  pools: PoolsTable
  tickers: TickersTable
  fee_claims: FeeClaimsTable
  merkle_trees: MerkleTreesTable
  merkle_blobs: MerkleBlobsTable
  tokens: TokensTable
  nfts: NftsTable
  stakes: StakesTable
  gold_locks: GoldLocksTable
  transactions: TransactionsTable
  webhook_subscriptions: WebhookSubscriptionsTable
  webhook_deliveries: WebhookDeliveriesTable
  webhook_queue: WebhookQueueTable
  webhook_replays: WebhookReplaysTable
  webhook_removals: WebhookRemovalsTable
  leases: LeasesTable
  signer_policies: SignerPoliciesTable
  signings: SigningsTable
  signer_spends: SignerSpendsTable
  audit_entries: AuditEntriesTable
}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
