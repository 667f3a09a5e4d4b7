/** Adds the followed accounts with their places in the chain's history, the transactions found there, and what subscriptions of finalized events wait for. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function chainReconciliation({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('followed_accounts')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('watch', 'text', (column) => column.notNull())
        .addColumn('beside', 'text')
        .addColumn('about', 'text')
        .addColumn('state_hash', 'text')
        .addColumn('seen_slot', 'bigint', (column) => column.notNull())
        .addColumn('seen_signature', 'text')
        .addColumn('head_slot', 'bigint')
        .addColumn('head_signature', 'text')
        .addColumn('before_signature', 'text')
        .addColumn('listed', 'bigint', (column) => column.notNull().defaultTo(0))
        .addColumn('quiet', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('next_look_at', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('followed_accounts_key', ['genesis', 'address', 'kind'])
        .execute()
      await db.schema
        .createIndex('followed_accounts_by_look')
        .on('followed_accounts')
        .columns(['genesis', 'watch', 'next_look_at'])
        .execute()
      await db.schema
        .createTable('chain_transactions')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('signature', 'text', (column) => column.notNull())
        .addColumn('slot', 'bigint', (column) => column.notNull())
        .addColumn('place', 'bigint', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('next_check_at', 'bigint')
        .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('chain_transactions_key', ['genesis', 'signature'])
        .execute()
      await db.schema
        .createIndex('chain_transactions_by_slot')
        .on('chain_transactions')
        .columns(['genesis', 'state', 'slot', 'place desc'])
        .execute()
      await db.schema
        .createIndex('chain_transactions_by_account')
        .on('chain_transactions')
        .columns(['genesis', 'address', 'state'])
        .where(sql.ref('state'), '=', sql.lit('listed'))
        .execute()
      await db.schema
        .alterTable('webhook_subscriptions')
        .addColumn('commitment', 'text', (column) => column.notNull().defaultTo('confirmed'))
        .execute()
      // Only deliveries to those who ask for final events are ever in it, each for some seconds.
      await db.schema
        .createIndex('webhook_queue_by_unfinal')
        .on('webhook_queue')
        .columns(['sequence'])
        .where(sql.ref('state'), '=', sql.lit('unfinal'))
        .execute()
      // Plans of a clock that was ahead are looked for by their time alone.
      await db.schema.createIndex('followed_accounts_by_plan').on('followed_accounts').column('next_look_at').execute()
      await db.schema
        .createIndex('chain_transactions_by_plan')
        .on('chain_transactions')
        .column('next_check_at')
        .where(sql.ref('next_check_at'), 'is not', null)
        .execute()
      await markEarlierInstallation(db as Kysely<Earlier>)
    },
  }
}

interface Earlier {
  transactions: { seq: number }
  settings: { name: string; value: string }
}

/**
 * An installation that has followed transactions before begins to look at the chain now; a new one looks at the whole
 * history of its accounts.
 */
async function markEarlierInstallation(db: Kysely<Earlier>): Promise<void> {
  const used = await db.selectFrom('transactions').select('seq').limit(1).executeTakeFirst()
  if (used === undefined) return
  await db.insertInto('settings').values({ name: 'reconciliation_from', value: 'now' }).execute()
}
