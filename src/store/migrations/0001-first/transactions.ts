/** Tables of submitted transactions, of followed accounts, and of transactions found in their histories. */
import type { SchemaDialect } from '../dialect.ts'

export const transactionTables = ({ sequence, blob }: SchemaDialect): string[] => [
  `create table transactions (
    seq ${sequence},
    signature text not null unique,
    lifecycle text not null,
    raw ${blob} not null,
    confirmation_status text,
    err_json text,
    slot bigint not null,
    confirmations bigint not null,
    tracked_resource_json text,
    bundle_id text,
    nonce_account text,
    since_slot bigint,
    next_check_at bigint,
    next_send_at bigint,
    blockhash text not null default '',
    genesis text not null default '',
    max_retries bigint not null default 0,
    checked_at bigint not null default 0,
    sends bigint not null default 0,
    tracked_id text,
    raw_removed_at bigint,
    ledger_at bigint,
    external_uid text,
    metadata_json text,
    created_at bigint not null
  )`,
  'create index transactions_by_lifecycle on transactions (lifecycle, seq)',
  'create index transactions_by_next_send_at on transactions (next_send_at)',
  'create index transactions_by_bundle_id on transactions (bundle_id)',
  'create index transactions_by_next_check_at on transactions (next_check_at, seq)',
  'create index transactions_by_tracked on transactions (tracked_id, seq)',
  // Only the few transactions that are still to be sent.
  'create index transactions_by_sends on transactions (sends, next_send_at, seq) where next_send_at is not null',
  // Only rows whose bytes are still to be removed.
  `create index transactions_by_ended on transactions (next_check_at, created_at)
    where next_check_at is null and raw_removed_at is null`,
  'create index transactions_by_blockhash on transactions (blockhash)',
  // Only what has ended and the ledger has not read.
  `create index transactions_by_ledger on transactions (genesis, seq)
    where ledger_at is null and next_check_at is null`,
  `create table refreshed_messages (
    message_sha256 text primary key,
    first_sha256 text not null,
    blockhash text not null,
    created_at bigint not null
  )`,
  'create index refreshed_messages_by_first_sha256 on refreshed_messages (first_sha256)',
  'create index refreshed_messages_by_created_at on refreshed_messages (created_at)',
  `create table followed_accounts (
    seq ${sequence},
    genesis text not null,
    address text not null,
    kind text not null,
    watch text not null,
    beside text,
    about text,
    state_hash text,
    seen_slot bigint not null,
    seen_signature text,
    head_slot bigint,
    head_signature text,
    before_signature text,
    listed bigint not null default 0,
    quiet integer not null default 0,
    next_look_at bigint not null,
    history_of text,
    created_at bigint not null,
    constraint followed_accounts_key unique (genesis, address, kind)
  )`,
  'create index followed_accounts_by_look on followed_accounts (genesis, watch, next_look_at)',
  // Finds looks that a wrong clock planned too far ahead.
  'create index followed_accounts_by_plan on followed_accounts (next_look_at)',
  'create index followed_accounts_by_history on followed_accounts (genesis, history_of, seq)',
  `create table chain_transactions (
    seq ${sequence},
    genesis text not null,
    signature text not null,
    slot bigint not null,
    place bigint not null,
    address text not null,
    state text not null,
    next_check_at bigint,
    tries integer not null default 0,
    ledger_at bigint,
    accounts_known bigint not null default 0,
    created_at bigint not null,
    constraint chain_transactions_key unique (genesis, signature)
  )`,
  'create index chain_transactions_by_slot on chain_transactions (genesis, state, slot, place desc)',
  `create index chain_transactions_by_account on chain_transactions (genesis, address, state)
    where state = 'listed'`,
  // Finds checks that a wrong clock planned too far ahead.
  'create index chain_transactions_by_plan on chain_transactions (next_check_at) where next_check_at is not null',
  // Only what has ended and the ledger has not read.
  `create index chain_transactions_by_ledger on chain_transactions (genesis, seq)
    where ledger_at is null and next_check_at is null`,
]
