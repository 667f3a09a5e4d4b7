/** Adds the ledger with its transactions and entries, which of the transactions it has read, and what fee claims have moved. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function ledgerTables({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('ledger_transactions')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('signature', 'text', (column) => column.notNull())
        .addColumn('slot', 'bigint')
        .addColumn('occurred_at', 'bigint')
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('failed', 'integer', (column) => column.notNull())
        .addColumn('reason', 'text')
        .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('next_try_at', 'bigint')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('ledger_transactions_key', ['genesis', 'signature'])
        .execute()
      await db.schema
        .createIndex('ledger_transactions_by_place')
        .on('ledger_transactions')
        .columns(['genesis', 'seq'])
        .execute()
      // The few that could not be read are due by chain, and looked for on any.
      for (const [name, ...columns] of [
        ['try', 'next_try_at'],
        ['due', 'genesis', 'next_try_at'],
      ]) {
        await db.schema
          .createIndex(`ledger_transactions_by_${name}`)
          .on('ledger_transactions')
          .columns(columns)
          .where(sql.ref('next_try_at'), 'is not', null)
          .execute()
      }
      await db.schema
        .createTable('ledger_entries')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('signature', 'text', (column) => column.notNull())
        .addColumn('slot', 'bigint', (column) => column.notNull())
        .addColumn('occurred_at', 'bigint', (column) => column.notNull())
        .addColumn('latest_at', 'bigint', (column) => column.notNull())
        .addColumn('month', 'text', (column) => column.notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('token', 'text', (column) => column.notNull())
        .addColumn('symbol', 'text')
        .addColumn('decimals', 'integer', (column) => column.notNull())
        .addColumn('amount', 'text', (column) => column.notNull())
        .addColumn('amount_high', 'bigint', (column) => column.notNull())
        .addColumn('amount_low', 'bigint', (column) => column.notNull())
        .addColumn('balance_after', 'text')
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('detail', 'text')
        .addColumn('party', 'text', (column) => column.notNull())
        .addColumn('counterparty', 'text')
        .addColumn('pool', 'text')
        .addColumn('price', 'text')
        .addColumn('price_currency', 'text')
        .addColumn('price_source', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      for (const column of ['pool', 'token', 'party', 'kind', 'owner', 'signature']) {
        await db.schema
          .createIndex(`ledger_entries_by_${column}`)
          .on('ledger_entries')
          .columns(['genesis', column, 'seq'])
          .execute()
      }
      for (const [name, ...columns] of [
        ['place', 'genesis', 'seq'],
        ['account', 'genesis', 'account', 'slot', 'signature'],
        ['latest_at', 'latest_at', 'seq'],
      ]) {
        await db.schema.createIndex(`ledger_entries_by_${name}`).on('ledger_entries').columns(columns).execute()
      }
      await db.schema
        .createTable('ledger_totals')
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('month', 'text', (column) => column.notNull())
        .addColumn('pool', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('party', 'text', (column) => column.notNull())
        .addColumn('token', 'text', (column) => column.notNull())
        .addColumn('symbol', 'text')
        .addColumn('decimals', 'integer', (column) => column.notNull())
        .addColumn('entries', 'bigint', (column) => column.notNull())
        .addColumn('received_high', 'bigint', (column) => column.notNull())
        .addColumn('received_low', 'bigint', (column) => column.notNull())
        .addColumn('paid_high', 'bigint', (column) => column.notNull())
        .addColumn('paid_low', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('ledger_totals_key', ['genesis', 'month', 'pool', 'kind', 'party', 'token'])
        .execute()
      const counters = db as Kysely<{ counters: { name: string; value: number } }>
      await counters.insertInto('counters').values({ name: 'ledger', value: 0 }).execute()
      for (const table of ['transactions', 'chain_transactions']) {
        await db.schema.alterTable(table).addColumn('ledger_at', 'bigint').execute()
      }
      // Only what has ended and was not read is in them, each for some seconds; after an upgrade, all of the past.
      await db.schema
        .createIndex('transactions_by_ledger')
        .on('transactions')
        .columns(['genesis', 'seq'])
        .where(sql.ref('ledger_at'), 'is', null)
        .where(sql.ref('next_check_at'), 'is', null)
        .execute()
      await db.schema
        .createIndex('chain_transactions_by_ledger')
        .on('chain_transactions')
        .columns(['genesis', 'seq'])
        .where(sql.ref('ledger_at'), 'is', null)
        .where(sql.ref('next_check_at'), 'is', null)
        .execute()
      for (const column of ['quote_amount', 'base_amount', 'lamports', 'received_json']) {
        await db.schema.alterTable('fee_claims').addColumn(column, 'text').execute()
      }
    },
  }
}
