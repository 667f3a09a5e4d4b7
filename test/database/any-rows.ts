/** Fills every table, whatever its columns are, with rows of every kind of value that the databases keep. */
import { sql } from 'kysely'
import { TABLES } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { numbers } from '../store/databases.ts'

/** Texts that a careless format or a line reader would change. */
const ODD = [
  '',
  ' ',
  '"quoted"',
  'back\\slash',
  'line\nbreak\r\n',
  'tab\t',
  '\u2028\u2029',
  'ä€😀',
  '[1,2]',
  '{"base64":"AA=="}',
]

/** Gives every table `count` rows; in tables with numbers the last one is removed again, so that its number is used. */
export async function fillEveryTable(store: Store, count: number): Promise<void> {
  const tables = await store.db.introspection.getTables()
  const keysByTable = new Map<string, Set<string>>()
  for (const name of TABLES) if (store.kind === 'sqlite') keysByTable.set(name, await keysOf(store, name))
  await store.write(async (tx) => {
    for (const name of TABLES) {
      const columns = tables.find((table) => table.name === name)!.columns
      const given = columns.filter((column) => column.name !== 'seq')
      const values = numbers(count).map((n) =>
        Object.fromEntries(
          given.map(({ name: column, dataType, isNullable }) => {
            if (column === 'tree_id') return [column, 'merkle_trees.id 0']
            if (column === 'snapshot_id') return [column, 'holder_snapshots.id 0']
            if (isNullable && n % 3 === 0 && !keysByTable.get(name)?.has(column)) return [column, null]
            if (/blob|bytea/i.test(dataType)) return [column, Buffer.from(`\0\xff bytes ${n}`, 'latin1')]
            if (/int/i.test(dataType)) return [column, n === 1 ? Number.MAX_SAFE_INTEGER % 2 ** 31 : n + 10]
            return [column, `${ODD[n % ODD.length]}${name}.${column} ${n}`]
          }),
        ),
      )
      await tx
        .insertInto(name)
        .values(values as never)
        .execute()
      if (given.length < columns.length) {
        await sql`delete from ${sql.table(name)} where seq = (select max(seq) from ${sql.table(name)})`.execute(tx)
      }
    }
  })
}

/** The columns of the primary key: SQLite alone takes null in them. */
async function keysOf({ db }: Store, table: string): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${table}) where pk > 0`.execute(db)
  return new Set(rows.map(({ name }) => name))
}
