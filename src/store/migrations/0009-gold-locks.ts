/** Recreates gold locks with one row per lock, as a wallet's next lock has the same address. No lock could exist before this version. */
import type { Kysely, Migration } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function goldLockTables({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.dropTable('gold_locks').execute()
      const texts = ['escrow', 'user', 'mint', 'amount', 'status', 'signature', 'genesis'] as const
      const numbers = ['unlocks_at', 'slot', 'created_at'] as const
      let table = db.schema.createTable('gold_locks').addColumn('seq', sequence.type, sequence.build)
      for (const name of texts) table = table.addColumn(name, 'text', (column) => column.notNull())
      for (const name of numbers) table = table.addColumn(name, 'bigint', (column) => column.notNull())
      await table
        .addColumn('next_check_at', 'bigint')
        .addColumn('external_uid', 'text')
        .addColumn('metadata_json', 'text')
        .execute()
      const once = db.schema.createIndex('gold_locks_once').unique().on('gold_locks')
      await once.columns(['escrow', 'signature']).execute()
      for (const [name, ...columns] of GOLD_LOCK_INDEXES) {
        await db.schema.createIndex(`gold_locks_by_${name}`).on('gold_locks').columns(columns).execute()
      }
    },
  }
}

const GOLD_LOCK_INDEXES = [
  ['user', 'user', 'seq'],
  ['status', 'status', 'seq'],
  ['unlocks_at', 'genesis', 'status', 'unlocks_at'],
  ['next_check_at', 'genesis', 'status', 'next_check_at'],
] as const
