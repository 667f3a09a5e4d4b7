/** Adds the tables of sponsorships, under which the platform wallet pays for claims, and of the claims that it paid for. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function sponsorshipTables({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('sponsorships')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('airdrop_id', 'text', (column) => column.notNull().unique())
        .addColumn('enabled', 'integer', (column) => column.notNull())
        .addColumn('budget', 'text', (column) => column.notNull())
        .addColumn('used', 'text', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('updated_by', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('sponsored_claims')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('airdrop_id', 'text', (column) => column.notNull())
        .addColumn('wallet', 'text', (column) => column.notNull())
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('signing_id', 'text', (column) => column.notNull())
        .addColumn('signature', 'text')
        .addColumn('lamports', 'text', (column) => column.notNull())
        .addColumn('fee', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('live', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('settled_at', 'bigint')
        .execute()
      // Of a wallet at most one is under way or has landed, however many requests ask at once.
      await db.schema
        .createIndex('sponsored_claims_live')
        .unique()
        .on('sponsored_claims')
        .columns(['airdrop_id', 'wallet', 'genesis'])
        .where(sql.ref('live'), '=', sql.lit(1))
        .execute()
      await db.schema
        .createIndex('sponsored_claims_by_wallet')
        .on('sponsored_claims')
        .columns(['airdrop_id', 'wallet', 'seq'])
        .execute()
      await db.schema
        .createIndex('sponsored_claims_by_status')
        .on('sponsored_claims')
        .columns(['airdrop_id', 'status'])
        .execute()
      // Only claims whose end is not known yet are in this one.
      await db.schema
        .createIndex('sponsored_claims_open')
        .on('sponsored_claims')
        .columns(['status', 'seq'])
        .where(sql.ref('settled_at'), 'is', null)
        .execute()
    },
  }
}
