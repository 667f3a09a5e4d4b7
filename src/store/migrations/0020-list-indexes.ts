/** Adds an index for every filter combination of the lists and for every query of due rows, so that no other rows are read. */
import { type Kysely, type Migration, sql } from 'kysely'

export function listIndexes(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const [table, place, ...combinations] of LISTS) {
        for (const columns of combinations) {
          const name = `${table}_by_${columns.join('_')}`
          await db.schema
            .createIndex(name)
            .on(table)
            .columns([...columns, place])
            .execute()
        }
      }
      for (const [table, column, ...equal] of DUE) {
        const name = `${table}_by_${column}`
        await db.schema.dropIndex(name).execute()
        await db.schema
          .createIndex(name)
          .on(table)
          .columns([...equal, column, 'seq'])
          .execute()
      }
      await db.schema.createIndex('transactions_by_tracked').on('transactions').columns(['tracked_id', 'seq']).execute()
      await db.schema.dropIndex('transactions_by_tracked_id').execute()
      // A partial index covers only the few transactions that are still to be sent.
      await db.schema
        .createIndex('transactions_by_sends')
        .on('transactions')
        .columns(['sends', 'next_send_at', 'seq'])
        .where(sql.ref('next_send_at'), 'is not', null)
        .execute()
    },
  }
}

/** Table, ordering column of its pages, and the filter combinations that have no index yet. */
const LISTS: readonly [table: string, place: string, ...combinations: string[][]][] = [
  [
    'events',
    'sequence',
    ['resource_type'],
    ['type', 'resource_type'],
    ['type', 'resource_id'],
    ['type', 'resource_type', 'resource_id'],
  ],
  ['audit_entries', 'sequence', ['action']],
  ['pools', 'seq', ['status', 'type'], ['creator', 'status'], ['creator', 'type'], ['creator', 'status', 'type']],
  ['nfts', 'seq', ['owner', 'collection']],
  [
    'stakes',
    'seq',
    ['owner', 'collection'],
    ['owner', 'status'],
    ['collection', 'status'],
    ['owner', 'collection', 'status'],
  ],
  ['gold_locks', 'seq', ['user', 'status']],
]

/** Table, due-time column and equality columns. Rows are ordered by due time, then by creation. */
const DUE: readonly [table: string, column: string, ...equal: string[]][] = [
  ['pools', 'next_check_at'],
  ['merkle_trees', 'next_check_at'],
  ['transactions', 'next_check_at'],
  ['gold_locks', 'unlocks_at', 'genesis', 'status'],
  ['gold_locks', 'next_check_at', 'genesis', 'status'],
]
