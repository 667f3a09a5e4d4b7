/** An index for every combination of filters of every list, and for every look at what is due: rows that do not match are not read. */
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
      for (const [table, ...columns] of DUE) {
        await db.schema.dropIndex(`${table}_by_next_check_at`).execute()
        await db.schema.createIndex(`${table}_by_next_check_at`).on(table).columns(columns).execute()
      }
      await db.schema.createIndex('transactions_by_tracked').on('transactions').columns(['tracked_id', 'seq']).execute()
      await db.schema.dropIndex('transactions_by_tracked_id').execute()
      // Only the few that are still to be sent.
      await db.schema
        .createIndex('transactions_by_sends')
        .on('transactions')
        .columns(['sends', 'next_send_at', 'seq'])
        .where(sql.ref('next_send_at'), 'is not', null)
        .execute()
    },
  }
}

/** Table, the column that its pages are in the order of, and the combinations that have no index yet. */
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

/** Longest waiting first, ties by creation. */
const DUE: readonly [table: string, ...columns: string[]][] = [
  ['pools', 'next_check_at', 'seq'],
  ['merkle_trees', 'next_check_at', 'seq'],
  ['transactions', 'next_check_at', 'seq'],
]
