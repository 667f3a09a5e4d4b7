/** The fourth migration: acts that wait for an approver, the decisions about them, and the people who may decide. */
import { runStatements, type SchemaDialect, type SteppedMigration } from './dialect.ts'

export const proposals = ({ sequence, blob }: SchemaDialect): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table proposals (
        seq ${sequence},
        id text not null unique,
        kind text not null,
        genesis text not null,
        status text not null,
        operation text not null,
        what text not null,
        asked_by text,
        message ${blob} not null,
        message_sha256 text not null,
        stored_message ${blob},
        request ${blob},
        tracked_resource_json text,
        approver_json text not null,
        multisig text,
        transaction_index bigint,
        transaction_address text,
        vault_index integer,
        ephemeral_signers integer,
        member text,
        forecast_json text,
        subject text,
        needed integer not null,
        expires_at bigint,
        signing_id text,
        signature text,
        fault text,
        next_look_at bigint,
        checked_slot bigint not null default 0,
        executed_slot bigint,
        reclaimed_at bigint,
        renewed_by text,
        external_uid text,
        metadata_json text,
        created_at bigint not null,
        updated_at bigint not null
      )`,
      'create index proposals_by_place on proposals (genesis, multisig, transaction_index)',
      // At most one of several plans for the same number reaches the chain.
      `create unique index proposals_on_chain on proposals (genesis, multisig, transaction_index)
        where multisig is not null and status <> 'planned' and status <> 'expired'`,
      'create index proposals_by_transaction on proposals (transaction_address) where transaction_address is not null',
      'create index proposals_by_signature on proposals (signature) where signature is not null',
      `create index proposals_open on proposals (subject)
        where subject is not null`,
      'create index proposals_by_status on proposals (status, seq)',
      'create index proposals_by_kind on proposals (kind, seq)',
      'create index proposals_by_kind_status on proposals (kind, status, seq)',
      'create index proposals_by_multisig on proposals (multisig, seq)',
      'create index proposals_by_multisig_status on proposals (multisig, status, seq)',
      'create index proposals_by_multisig_kind on proposals (multisig, kind, seq)',
      'create index proposals_by_multisig_kind_status on proposals (multisig, kind, status, seq)',
      'create index proposals_by_message on proposals (message_sha256, seq)',
      'create index proposals_by_signing on proposals (signing_id) where signing_id is not null',
      // Only what can still change.
      'create index proposals_by_look on proposals (genesis, next_look_at, seq) where next_look_at is not null',
      // Finds looks that a wrong clock planned too far ahead.
      'create index proposals_by_plan on proposals (next_look_at, seq) where next_look_at is not null',
      // Finds the requests of those that ended long ago.
      'create index proposals_by_request on proposals (updated_at) where request is not null',
      `create table proposal_decisions (
        seq ${sequence},
        proposal_id text not null,
        approver text not null,
        decision text not null,
        signature text,
        at bigint not null,
        constraint proposal_decisions_key unique (proposal_id, approver, decision)
      )`,
      `create table approvers (
        seq ${sequence},
        address text not null unique,
        name text not null,
        api_key_id text,
        added_by text not null,
        revoked_at bigint,
        external_uid text,
        metadata_json text,
        created_at bigint not null
      )`,
    ]),
})
