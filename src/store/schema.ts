/** Types of the tables in both databases. Times are Unix milliseconds, booleans are 0 or 1, and `*_json` columns are JSON text. */
import type { Generated, Insertable, Selectable } from 'kysely'
import type { Beneficiary, FeeClaimKind } from '../api/fee-claims.ts'

/** Columns of every listed record: its number in the order of creation, and the fields of the originating request. */
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
  /** SHA-256 of the key in hex; the key itself is never stored. */
  hash: string
  /** First characters of the key, enough to recognise it in a list. */
  preview: string
  scopes_json: string
  /** Requests per minute; null means unlimited, as for the local operator's key. */
  per_minute: number | null
  per_day: number | null
  status: 'active' | 'revoked'
  created_at: number
  revoked_at: number | null
}

/** Admitted requests of one key: at most one row per flush, with the time of the latest request. */
/** Admitted requests of a key at one moment; between two rows of a key, `total` grows by what was admitted. */
export interface RateHitsTable {
  api_key_id: string
  at: number
  count: number
  /** Cumulative count of the key, this row's included; it starts anew after a day without requests. */
  total: number
}

export interface IdempotencyKeysTable {
  api_key_id: string
  key: string
  /** SHA-256 over method, path and body. */
  request_hash: string
  state: 'running' | 'done'
  /** Process that runs the request; without a renewal it is considered dead after `lease_until`. */
  owner: string
  lease_until: number
  /** Id (`sgn_…`) of the signing that the request with this key started; a retry completes it and starts no other. */
  signing_id: string | null
  status: number | null
  /** Sealed response body. */
  response: Buffer | null
  created_at: number
  expires_at: number
}

export interface EventsTable {
  /** Number of the event, increasing and without gaps per database. */
  sequence: number
  id: string
  type: string
  resource_type: string
  resource_id: string
  object_json: string
  external_uid: string | null
  metadata_json: string | null
  /** Key made of type, resource and signature; the same event reported twice is stored once. */
  dedupe_key: string
  created_at: number
  /** Latest `created_at` of all events up to this one; it never decreases along the sequence, even if a clock jumps. */
  latest_at: number
}

/** Dedupe keys of removed events, so that nothing is reported again after its event is gone. */
export interface RemovedEventKeysTable {
  /** SHA-256 of the dedupe key. */
  key_hash: Buffer
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
  /** Name of the curve with which the pool was launched. */
  preset: string | null
  /** Address of the pool that this launch curve migrated to; null for other pools. */
  migrated_to: string | null
  /** Address of the launch curve that migrated to this pool; null for other pools. */
  dbc_pool: string | null
  /** Genesis hash of the pool's chain. */
  genesis: Generated<string>
  /** Time of the next check; null once no further change is possible. */
  next_check_at: number | null
  /** Signing of the latest migration transaction, and its signature once it is known. */
  crank_signing: string | null
  crank_signature: string | null
  /** Number of failed migration transactions. */
  crank_failures: Generated<number>
  /** Time at which the pool's creation was submitted through this service; null if it was not. */
  submitted_at: Generated<number | null>
}

/** Config accounts that the launches of a preset share, one for each content of the preset and each receiver of its fees. */
export interface SharedConfigsTable {
  /** Genesis hash of the account's chain. */
  genesis: string
  /** Name of the preset. */
  preset: string
  /** SHA-256 in hex of all that the account's creation says: curve, fee claimer and leftover receiver. */
  content_sha256: string
  address: string
  /** Sealed secret key of the account's address, with which only this service can create an account there. */
  secret: Buffer
  /** SHA-256 in hex of the data that the program writes for this content. */
  data_sha256: string
  created_at: number
}

/** Latest pool of each ticker; tickers are in upper case. */
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
  /** Raw units of the quote that left the pool's accounts, as digits; null until the transaction is final and read. */
  quote_amount: Generated<string | null>
  /** The same of the base token. */
  base_amount: Generated<string | null>
  /** The same in lamports: the quote where it is SOL, and what left the pool's own account. */
  lamports: Generated<string | null>
  /** Who got what, as `[{ wallet, token, amount }]`; token is empty for SOL. */
  received_json: Generated<string | null>
  occurred_at: number
  /** What was claimed; null in a row of an earlier version whose event was removed. */
  kind: FeeClaimKind | null
  /** Whose share it was; null for a position that is neither the partner's nor the creator's, and as above. */
  beneficiary: Beneficiary | null
  claimer: string | null
}

/** Schedules by which the platform wallet claims fees. */
export interface FeeSchedulesTable extends Recorded {
  id: string
  cron: string
  timezone: string
  /** Kinds, beneficiary, threshold, splits and filter, as the API shows them. */
  terms_json: string
  active: number
  /** Time of the next period; null while it is paused. */
  next_run_at: number | null
  /** Time at which `next_run_at` was computed; one in the future was written by a clock that was ahead. */
  planned_at: number
  /** API keys that made the schedule, and changed it last. */
  created_by: string
  updated_by: string
  updated_at: number
}

/** Runs of fee schedules: one for each period, and those that were asked for. */
export interface FeeScheduleRunsTable extends Recorded {
  id: string
  schedule_id: string
  /** The period by the time of the cron expression, which no other run of the schedule has; null for one on request. */
  scheduled_at: number | null
  status: 'running' | 'done' | 'skipped' | 'stopped'
  reason: string | null
  /** Periods before this one without a run, up to a thousand, and the first and the last of them. */
  missed: Generated<number>
  missed_from: Generated<number | null>
  missed_until: Generated<number | null>
  /** Terms of the schedule at the beginning; null once the run has ended. */
  terms_json: string | null
  /** Place of the last pool that was looked at: its number, or its place among the named ones. */
  position: Generated<number>
  pools: Generated<number>
  claimed: Generated<number>
  /** Up to a hundred claims, and as many that were not made, as the API shows them. */
  claims_json: Generated<string>
  skipped_json: Generated<string>
  /** Claims that were not made, by reason. */
  skips_json: Generated<string>
  /** Failures in a row at the next pool. */
  failures: Generated<number>
  /** Time of the next step; null once the run has ended. */
  next_step_at: number | null
  ended_at: Generated<number | null>
}

/** Claims that a run has begun, each of which is signed at most once. */
export interface FeeScheduleClaimsTable {
  seq: Generated<number>
  run_id: string
  pool_address: string
  kind: string
  /** `open` until it is signed, or has `ended` without a signature of which anyone knows. */
  state: 'open' | 'signed' | 'ended'
  /** Id of its signing, which a later attempt completes. */
  signing_id: Generated<string | null>
  signature: Generated<string | null>
  estimated_quote: Generated<string | null>
  reason: Generated<string | null>
  message: Generated<string | null>
}

export interface MerkleTreesTable extends Recorded {
  id: string
  mint: string
  airdrop_count: number
  /** Merkle root in hex without a prefix. */
  root: string
  leaf_count: number
  /** Sum of all amounts, locked ones included, as decimal digits. */
  total: string
  /** Sum of the locked amounts as decimal digits. */
  total_locked: Generated<string>
  list_sha256: string
  /** API key that stored the tree; null for trees of an earlier version. */
  created_by: Generated<string | null>
  /** Airdrop lifecycle; `tree_built` until a distributor is found on chain. */
  status: 'tree_built' | 'initialized' | 'claiming' | 'fully_claimed' | 'vault_drained'
  /** Address of the airdrop's account on any chain; null for trees of an earlier version until their next check. */
  distributor: string | null
  /** Genesis hash of the chain on which `status` was observed; empty while it is `tree_built`. */
  genesis: Generated<string>
  /** Time of the next check of the distributor; null once no further change is possible. */
  next_check_at: number | null
  /** Time at which housekeeping first found the vault drained; null before, and after the leaves were removed. */
  drained_at: Generated<number | null>
  /** Time at which the leaves were removed; null while proofs can be read. */
  leaves_removed_at: Generated<number | null>
}

/** Bytes of a stored tree, split into pieces so that one proof reads little; see `src/merkle`. */
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

/** Position of an asset's last known change; an older confirmation that arrives later does not change the record. */
interface Placed {
  changed_slot: Generated<number>
  /** Order of the transaction among those submitted in the same slot; 0 for a state that was read from the chain. */
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
  /** Address that can thaw the asset frozen by the last followed stake; null when no followed stake provided it. */
  freeze_authority: string | null
  /**
   * Position of the stake from which platform id, metadata and external uid come, like `changed_slot` and
   * `changed_order`.
   */
  said_slot: Generated<number>
  said_order: Generated<number>
}

export interface HolderSnapshotsTable extends Recorded {
  id: string
  /** The mint or the collection, whichever it is. */
  address: string
  mint: string | null
  collection: string | null
  token_program: 'spl' | 'token2022' | null
  decimals: number | null
  slot: number
  /** Unix milliseconds; null where the node did not know it. */
  block_time: number | null
  /** Amounts in raw units as digits; a collection's are numbers of assets. */
  supply: string
  withheld: string
  confidential: string
  /** Token accounts or assets that were read, and addresses that hold something. */
  accounts: number
  holders: number
  /** Which owners' accounts were read. */
  owners: 'all' | 'off_curve'
  /** Holders and their amounts by kind. */
  kinds_json: string
  /** Programs that rows name by their place. */
  programs_json: string
  pieces: number
  /** SHA-256 of all rows in hex. */
  holders_sha256: string
}

/** Packed rows of a snapshot, `n` from 0 on. */
export interface HolderPiecesTable {
  snapshot_id: string
  n: number
  bytes: Buffer
}

export interface GoldLocksTable extends Recorded {
  escrow: string
  user: string
  mint: string
  amount: string
  unlocks_at: number
  status: 'locked' | 'unlockable' | 'unlocked'
  /**
   * Signature and slot of the transaction that created the lock, needed because a wallet's next lock has the same
   * address.
   */
  signature: string
  slot: number
  /** Genesis hash of the lock's chain. */
  genesis: string
  /** Time of the next check whether the lock still exists, once it can be unlocked. */
  next_check_at: number | null
}

export interface TransactionsTable extends Recorded {
  signature: string
  /** Signed bytes, stored before they are sent; empty once they were removed. */
  raw: Buffer
  lifecycle: 'submitted' | 'processing' | 'confirmed' | 'finalized' | 'failed'
  confirmation_status: string | null
  err_json: string | null
  slot: number
  confirmations: number
  tracked_resource_json: string | null
  /** Value of `resource_id` of the tracked resource. */
  tracked_id: string | null
  /** Bundle in which it was submitted; transactions of a bundle are only sent together. */
  bundle_id: string | null
  /** Retries requested of the RPC node; 0 also stops this service from sending again. */
  max_retries: number
  /** Blockhash of the message, or the value of its durable nonce. */
  blockhash: string
  nonce_account: string | null
  /**
   * Genesis hash of the chain that it was submitted to; only that chain can report its outcome. Empty until a node has
   * reported it.
   */
  genesis: string
  /** Slot that the cluster had reached at the first check; null before it. */
  since_slot: number | null
  /** Time of the last check; 0 before the first one. */
  checked_at: number
  /** Time of the next check; null once no further change is possible. */
  next_check_at: number | null
  /** Time to send it again; null while that is not needed. */
  next_send_at: number | null
  /** Number of times the watcher has sent it. */
  sends: number
  /** Time at which the bytes were removed; null while they are stored. */
  raw_removed_at: Generated<number | null>
  /** Time at which the ledger took it; null before. */
  ledger_at: Generated<number | null>
}

/** A message that was given a fresh blockhash, or that came of it. */
export interface RefreshedMessagesTable {
  message_sha256: string
  /** Hash of the message that was refreshed first. */
  first_sha256: string
  blockhash: string
  created_at: number
}

export interface WebhookSubscriptionsTable {
  seq: Generated<number>
  id: string
  /** API key that created it; null for subscriptions of an earlier version. */
  api_key_id: string | null
  url: string
  enabled_events_json: string
  active: number
  /** Sealed signing secret. */
  secret: Buffer
  secret_preview: string
  /**
   * Rotated secrets as `[{ secret, until }]`, sealed and in base64, the newest first; each also signs until its time.
   */
  previous_secrets_json: Generated<string>
  /** Number of URL changes and reactivations; failures from before the last change are ignored. */
  receiver_revision: Generated<number>
  disabled_reason: string | null
  /** What an event's transaction must have reached before the event is delivered. */
  commitment: Generated<'confirmed' | 'finalized'>
  /** Sequence up to which events have been checked for this subscription. */
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

/** One event for one subscription, stored until it is delivered. */
export interface WebhookQueueTable {
  seq: Generated<number>
  subscription_id: string
  event_id: string
  /** Sequence of the event. */
  sequence: number
  /** Resource of the event; first attempts for the same resource start in order. */
  resource: string
  /**
   * `held` means that it failed seven times and waits for its subscription to be reactivated; `unfinal` that its
   * subscription asks for final events, and this is not known to be one.
   */
  state: 'waiting' | 'held' | 'unfinal'
  /** Number of attempts since it was queued, replayed or resumed. */
  attempts: number
  next_attempt_at: number
  /** Time until which a process works on the delivery; after it, that process is considered dead. */
  claimed_until: number
}

/** Past events that are queued again for one subscription step by step; the row is deleted once all are queued. */
export interface WebhookReplaysTable {
  seq: Generated<number>
  subscription_id: string
  /** Time from which on events are replayed. */
  since: number
  /** Event types that the subscription had enabled at the time of the request; null means all. */
  types_json: string | null
  /**
   * The subscription's cursor at the time of the request; later events are delivered once, by the replay or by regular
   * delivery.
   */
  come_to: number
  /** Sequence up to which events are queued; the replay ends at `last`. */
  through: number
  last: number
  created_at: number
}

/** Removed subscriptions, stored until their queues and delivery records are deleted too. */
export interface WebhookRemovalsTable {
  seq: Generated<number>
  subscription_id: string
  removed_at: number
}

/** Current owner of each background job. */
export interface LeasesTable {
  name: string
  /** Process that holds the lease, or held it last. */
  owner: string
  /** Expiry time of the lease; 0 once released. */
  until: number
  /** Latest scheduled time of the job that was assigned to a process. */
  slot: number
  /** Number of times the job was completed by any process. */
  done: Generated<number>
}

/** Policy and state of each signing key. */
export interface SignerPoliciesTable {
  /** Address of the signing key. */
  signer: string
  paused: number
  paused_reason: string | null
  /** Policy as JSON, in which amounts are digit strings. */
  policy_json: string
  /** Time of the last reset of the daily spending; 0 before the first. */
  spend_since: number
  /** `seq` of the last spend before the reset; it and earlier spends do not count. */
  spend_mark: number
  updated_at: number
}

/** Messages that the platform's key signs or has signed; a row is stored before the provider is called. */
export interface SigningsTable {
  seq: Generated<number>
  id: string
  signer: string
  /** Operation that requested the signature, for example `signer.test`. */
  operation: string
  /** Wire format with every signature except the platform's. */
  transaction: Buffer
  /** SHA-256 of the message in hex; two requests never sign the same message, as one payment would count for both. */
  message_sha256: string
  /** Sealed response and next steps of the request; present only in its first signing. */
  plan: Buffer | null
  genesis: string
  since_slot: number | null
  /** `intended` until the signature is stored; `abandoned` if the provider certainly created no signature. */
  state: 'intended' | 'signed' | 'abandoned'
  signature: string | null
  created_at: number
}

/** Amount that a signing counts against the daily limit; it is deleted if nothing was signed. */
export interface SignerSpendsTable {
  seq: Generated<number>
  signing_id: string
  signer: string
  /** Mint of the token; empty for lamports. */
  mint: string
  /** Raw amount as decimal digits. */
  amount: string
  at: number
}

/** Append-only audit log; each entry's hash includes the previous hash. */
export interface AuditEntriesTable {
  /** Number of the entry, without gaps from 1. */
  sequence: number
  at: number
  action: string
  signer: string | null
  api_key_id: string
  request_id: string
  details_json: string
  /** SHA-256 of the previous entry in hex; 64 zeros for the first entry. */
  previous_hash: string
  hash: string
  /** HMAC-SHA256 of `hash` with the vault's key, in hex; null until an upgrade has sealed the entry. */
  seal: string | null
}

/** Places at which the audit log was cut: entries up to `sequence` are removed, and the next one continues `hash`. */
export interface AuditAnchorsTable {
  sequence: number
  /** Hash of the last removed entry. */
  hash: string
  /** Time of the last removed entry. */
  at: number
  /** State of the signers' policies after the last removed entry, as JSON. */
  policies_json: string
  cut_at: number
  /** HMAC-SHA256 of the other columns with the vault's key, in hex. */
  seal: string
}

/** Token images and metadata, where the setting `storage` is `database`. */
export interface AssetsTable {
  cid: string
  /** Length in bytes. */
  length: number
  /** 1 once every piece is stored. */
  complete: Generated<number>
  /** Time at which the last upload began. */
  created_at: number
}

/** Bytes of an asset in pieces, numbered from 0. */
export interface AssetPiecesTable {
  cid: string
  n: number
  bytes: Buffer
}

/** An account whose transactions can change records, and how far its history was looked at. */
export interface FollowedAccountsTable {
  seq: Generated<number>
  /** Genesis hash of the account's chain. */
  genesis: string
  address: string
  /** Why it is followed; the projections name it. One account may be followed for several reasons, each its own row. */
  kind: string
  /**
   * `state`: its history is listed when its data has changed; `history`: at each look; `source`: never, because other
   * accounts are found by it.
   */
  watch: 'state' | 'history' | 'source'
  /** Another followed account: only transactions in the histories of both are read. */
  beside: string | null
  /** Address of the record that it belongs to, where that is not its own: the mint of metadata. */
  about: string | null
  /**
   * The wallet whose history is listed when the account has changed, where its own would be read in vain: a pool's is its
   * trades. Null for the account itself.
   */
  history_of: string | null
  /**
   * SHA-256 of the account's data when its history was last listed to the end; null before, and while a change is not
   * final. `3:` before it: the data has changed since, which three listings have not explained. `@7:` before it: it was
   * first read so in slot 7, to which a wallet's history is not listed yet as final.
   */
  state_hash: string | null
  /** Newest finalized transaction up to which the history was listed without a gap. */
  seen_slot: number
  seen_signature: string | null
  /** Newest finalized transaction of the listing under way, which becomes the seen one at its end. */
  head_slot: number | null
  head_signature: string | null
  /** Where the listing under way goes on, towards older transactions; null while there is no gap. */
  before_signature: string | null
  /** Signatures that the listing under way has found, which number them from the newest. */
  listed: Generated<number>
  /** Number of looks in a row that found nothing. */
  quiet: Generated<number>
  next_look_at: number
  created_at: number
}

/** A transaction that was found in the history of a followed account. */
export interface ChainTransactionsTable {
  seq: Generated<number>
  genesis: string
  signature: string
  slot: number
  /** Number from the newest within the listing that found it, which orders those of one slot. */
  place: number
  /** The followed account that it was found with. */
  address: string
  /**
   * `listed` until its listing has no gap, `waiting` until it is read, `half` while the history beside has not shown
   * it; `read` and `empty` (nothing for a record) until it is `finalized` or `dropped` with its fork.
   */
  state: 'listed' | 'half' | 'waiting' | 'read' | 'empty' | 'finalized' | 'dropped'
  /** Time of the next reading or check; null once no further change is expected. */
  next_check_at: number | null
  /** Readings in a row that have failed, after each of which the wait is longer. */
  tries: Generated<number>
  created_at: number
  /** Time at which the ledger took it; null before. */
  ledger_at: Generated<number | null>
  /** Highest `seq` of a followed account when it was read: one that is followed later reads it anew. */
  accounts_known: Generated<number>
}

/** A transaction that the ledger has read, or could not read. */
export interface LedgerTransactionsTable {
  seq: Generated<number>
  genesis: string
  signature: string
  /** Null where it is not known before it is read. */
  slot: number | null
  /** Time of its block in Unix milliseconds; null until it is read. */
  occurred_at: number | null
  status: 'written' | 'unread'
  /** Whether it failed, so that it paid its network fee alone. */
  failed: number
  /** Why it is unread. */
  reason: string | null
  tries: Generated<number>
  /** Time of the next reading; null once it is written. */
  next_try_at: number | null
  created_at: number
}

/** One posting: what a final transaction changed about one account's balance of one token, or a named part of it. */
export interface LedgerEntriesTable {
  seq: Generated<number>
  genesis: string
  signature: string
  slot: number
  /** Time of the block in Unix milliseconds. */
  occurred_at: number
  /** Latest `occurred_at` of all entries up to this one. */
  latest_at: number
  /** Month of `occurred_at` in UTC, as 2026-11. */
  month: string
  /** Address on the chain, or `network` for what the validators keep. */
  account: string
  /** Wallet that owns the token account; the account itself for any other. */
  owner: string
  /** Mint; empty for SOL, wrapped or not. */
  token: string
  symbol: string | null
  decimals: number
  /** Raw units with a sign. */
  amount: string
  /** The amount in parts that a database can add up: high * 10^12 + low, both with the amount's sign. */
  amount_high: number
  amount_low: number
  /** What the account held after the transaction; null for accounts that are not on the chain. */
  balance_after: string | null
  kind: string
  /** Which claim it was. */
  detail: string | null
  party: string
  counterparty: string | null
  pool: string | null
  /** Price of a whole token at the time of writing; null where no source has one. */
  price: string | null
  price_currency: string | null
  price_source: string | null
  created_at: number
}

/** What the entries of a month, pool, kind, party and token sum to, in parts as amounts are; `pool` is empty for none. */
export interface LedgerTotalsTable {
  genesis: string
  month: string
  pool: string
  kind: string
  party: string
  token: string
  symbol: string | null
  decimals: number
  entries: number
  received_high: number
  received_low: number
  paid_high: number
  paid_low: number
}

/** A claim that a confirmed transaction has made. */
export interface AirdropClaimsTable {
  seq: Generated<number>
  genesis: string
  airdrop_id: string
  wallet: string
  /** `claim` is the first of a wallet, `claim_locked` each later one of what has vested. */
  kind: 'claim' | 'claim_locked'
  /** Raw units that were not locked, and those that were; the claim has paid both. */
  amount: string
  amount_locked: string
  /** Both together in 20 digits, so that text has the order of numbers. */
  size: string
  signature: string
  slot: number
  claimed_at: number
  /** Empty for the first claim, of which a wallet has one; the signature of a later one. */
  dedupe_by: string
}

/** What the claims of an airdrop in one hour (counted from 1970) sum to, in parts as amounts are. */
export interface AirdropClaimTotalsTable {
  genesis: string
  airdrop_id: string
  hour: number
  claims: number
  /** First claims, each of another wallet. */
  wallets: number
  amount_high: number
  amount_low: number
  locked_high: number
  locked_low: number
}

/** What is known of all claims of an airdrop; the median is the claim at the lower middle of the order by size and place. */
export interface AirdropClaimFiguresTable {
  genesis: string
  airdrop_id: string
  claims: number
  median_size: string | null
  median_seq: number | null
  first_at: number | null
  last_at: number | null
}

/** What the platform wallet may pay for the claims of one airdrop, and what of it is used. */
export interface SponsorshipsTable {
  seq: Generated<number>
  airdrop_id: string
  /** Root of the tree whose claims are paid for; a sponsorship has ended where the stored tree has another one. */
  root: string
  /** 1 while claims are paid for. */
  enabled: number
  /** Lamports that may leave in all. */
  budget: string
  /** Lamports of claims that are under way or have landed, and the fees of those that have failed. */
  used: string
  created_by: string
  updated_by: string
  created_at: number
  updated_at: number
}

/** A claim that the platform wallet pays for, from its reservation on. */
export interface SponsoredClaimsTable {
  seq: Generated<number>
  id: string
  airdrop_id: string
  wallet: string
  genesis: string
  signing_id: string
  /** Null until the platform wallet has signed. */
  signature: string | null
  /** Lamports that leave the platform wallet: fee and rent. */
  lamports: string
  /** The network fee among them, which a failed transaction costs too. */
  fee: string
  status: 'signing' | 'submitted' | 'landed' | 'failed' | 'expired'
  /** 1 while the wallet gets no other: until it has failed or expired. */
  live: number
  created_at: number
  /** Null until its end is known. */
  settled_at: number | null
}

export interface Tables {
  api_keys: ApiKeysTable
  rate_hits: RateHitsTable
  idempotency_keys: IdempotencyKeysTable
  events: EventsTable
  removed_event_keys: RemovedEventKeysTable
  counters: CountersTable
  settings: SettingsTable
  pools: PoolsTable
  tickers: TickersTable
  shared_configs: SharedConfigsTable
  fee_claims: FeeClaimsTable
  fee_schedules: FeeSchedulesTable
  fee_schedule_runs: FeeScheduleRunsTable
  fee_schedule_claims: FeeScheduleClaimsTable
  sponsorships: SponsorshipsTable
  sponsored_claims: SponsoredClaimsTable
  merkle_trees: MerkleTreesTable
  merkle_blobs: MerkleBlobsTable
  holder_snapshots: HolderSnapshotsTable
  holder_pieces: HolderPiecesTable
  tokens: TokensTable
  nfts: NftsTable
  stakes: StakesTable
  gold_locks: GoldLocksTable
  transactions: TransactionsTable
  refreshed_messages: RefreshedMessagesTable
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
  audit_anchors: AuditAnchorsTable
  assets: AssetsTable
  asset_pieces: AssetPiecesTable
  followed_accounts: FollowedAccountsTable
  chain_transactions: ChainTransactionsTable
  ledger_transactions: LedgerTransactionsTable
  ledger_entries: LedgerEntriesTable
  ledger_totals: LedgerTotalsTable
  airdrop_claims: AirdropClaimsTable
  airdrop_claim_totals: AirdropClaimTotalsTable
  airdrop_claim_figures: AirdropClaimFiguresTable
}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
