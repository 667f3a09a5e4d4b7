/** Tables of the platform wallet: policies, signings, spending, and the audit log. */
import type { SchemaDialect } from '../dialect.ts'

export const signingTables = ({ sequence, blob }: SchemaDialect): string[] => [
  `create table signer_policies (
    signer text primary key,
    paused integer not null,
    paused_reason text,
    policy_json text not null,
    spend_since bigint not null,
    spend_mark bigint not null,
    updated_at bigint not null
  )`,
  `create table signings (
    seq ${sequence},
    id text not null unique,
    signer text not null,
    operation text not null,
    "transaction" ${blob} not null,
    message_sha256 text not null,
    plan ${blob},
    genesis text not null,
    since_slot bigint,
    state text not null,
    signature text,
    created_at bigint not null
  )`,
  'create index signings_by_message on signings (message_sha256)',
  'create index signings_by_created_at on signings (created_at)',
  `create table signer_spends (
    seq ${sequence},
    signing_id text not null,
    signer text not null,
    mint text not null,
    amount text not null,
    at bigint not null
  )`,
  'create index signer_spends_by_at on signer_spends (signer, at)',
  'create index signer_spends_by_signing on signer_spends (signing_id)',
  `create table audit_entries (
    sequence bigint primary key,
    at bigint not null,
    action text not null,
    signer text,
    api_key_id text not null,
    request_id text not null,
    details_json text not null,
    previous_hash text not null,
    hash text not null,
    seal text not null
  )`,
  'create index audit_entries_by_action on audit_entries (action, sequence)',
  `create table audit_anchors (
    sequence bigint primary key,
    hash text not null,
    at bigint not null,
    policies_json text not null,
    cut_at bigint not null,
    seal text not null
  )`,
]
