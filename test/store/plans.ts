/** What a database says of how it will run a statement, and what is wrong with that. */
import { CompiledQuery, type KyselyPlugin, sql } from 'kysely'
import type { Store } from '../../src/store/store.ts'

/** The store, and every statement that goes through it from then on. */
export function watched(store: Store): { store: Store; statements: CompiledQuery[] } {
  const statements: CompiledQuery[] = []
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.push(store.db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const write: Store['write'] = (work) => store.write((tx) => work(tx.withPlugin(plugin)))
  return { store: { ...store, db: store.db.withPlugin(plugin), write }, statements }
}

export interface Plan {
  text: string
  /** Columns that lead to the rows by an index; what is only compared afterwards is not among them. */
  led: string[]
  /** Empty where the rows are found by an index, in their order. */
  faults: string[]
}

export async function planOf(store: Store, statement: CompiledQuery): Promise<Plan> {
  return store.kind === 'sqlite' ? planOnSqlite(store, statement) : planOnPostgres(store, statement)
}

const words = (text: string) => [...text.matchAll(/[a-z_]+/g)].map(([word]) => word)

async function planOnSqlite({ db }: Store, { sql: text, parameters }: CompiledQuery): Promise<Plan> {
  const explain = CompiledQuery.raw(`explain query plan ${text}`, [...parameters])
  const { rows } = await db.executeQuery<{ detail: string }>(explain)
  const lines = rows.map(({ detail }) => detail)
  // Without a condition the rows are read in the order of the table, as many as the page has.
  const isFree = !/ where /.test(text) && / limit /.test(text)
  return {
    text: lines.join('\n'),
    led: lines.filter((line) => line.startsWith('SEARCH')).flatMap((line) => words(/\(.*\)$/.exec(line)?.[0] ?? '')),
    faults: lines.filter((line) => /TEMP B-TREE/.test(line) || (/^SCAN /.test(line) && !isFree)),
  }
}

async function planOnPostgres(store: Store, { sql: text, parameters }: CompiledQuery): Promise<Plan> {
  const lines = await store.write(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx)
    const { rows } = await tx.executeQuery<Record<string, string>>(CompiledQuery.raw(`explain ${text}`, [...parameters]))
    return rows.map((row) => row['QUERY PLAN']!.trim())
  })
  return {
    text: lines.join('\n'),
    led: lines.filter((line) => line.startsWith('Index Cond')).flatMap(words),
    faults: lines.filter((line) => /Seq Scan|^(->\s+)?(Incremental )?Sort\b/.test(line)),
  }
}
