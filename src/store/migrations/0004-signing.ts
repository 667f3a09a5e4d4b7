/** Adds the custodial signer's policies, signings and spending, and the tamper-evident audit log. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function signing({ blob, sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('signer_policies')
        .addColumn('signer', 'text', (column) => column.primaryKey())
        .addColumn('paused', 'integer', (column) => column.notNull())
        .addColumn('paused_reason', 'text')
        .addColumn('policy_json', 'text', (column) => column.notNull())
        .addColumn('spend_since', 'bigint', (column) => column.notNull())
        .addColumn('spend_mark', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('signings')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('signer', 'text', (column) => column.notNull())
        .addColumn('operation', 'text', (column) => column.notNull())
        .addColumn('transaction', blob, (column) => column.notNull())
        .addColumn('message_sha256', 'text', (column) => column.notNull())
        .addColumn('plan', blob)
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('since_slot', 'bigint')
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('signature', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('signer_spends')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('signing_id', 'text', (column) => column.notNull())
        .addColumn('signer', 'text', (column) => column.notNull())
        .addColumn('mint', 'text', (column) => column.notNull())
        .addColumn('amount', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema.createIndex('signings_by_message').on('signings').column('message_sha256').execute()
      await db.schema.createIndex('signer_spends_by_at').on('signer_spends').columns(['signer', 'at']).execute()
      await db.schema.createIndex('signer_spends_by_signing').on('signer_spends').column('signing_id').execute()
      await db.schema
        .createTable('audit_entries')
        .addColumn('sequence', 'bigint', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('action', 'text', (column) => column.notNull())
        .addColumn('signer', 'text')
        .addColumn('api_key_id', 'text', (column) => column.notNull())
        .addColumn('request_id', 'text', (column) => column.notNull())
        .addColumn('details_json', 'text', (column) => column.notNull())
        .addColumn('previous_hash', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .execute()
      await sql`insert into counters (name, value) values ('audit', 0)`.execute(db)
    },
  }
}
