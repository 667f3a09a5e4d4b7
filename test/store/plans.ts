/** What a database says of how it will run a statement, and what is wrong with that. */
import { CompiledQuery, type KyselyPlugin, type QueryId, sql } from 'kysely'
import type { Store } from '../../src/store/store.ts'

/** The store, and every statement that was run through it from then on. */
export function watched(store: Store): { store: Store; statements: CompiledQuery[] } {
  const statements: CompiledQuery[] = []
  const built = new WeakMap<QueryId, CompiledQuery>()
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      built.set(queryId, store.db.getExecutor().compileQuery(node, queryId))
      return node
    },
    // What is only built, to be taken apart for another statement, has no result.
    async transformResult({ queryId, result }) {
      statements.push(built.get(queryId)!)
      return result
    },
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

/** Tokens in the order of their table, without the few whose mint is closed: these are passed over. */
const isOfListedTokens = (text: string) => / from "tokens" where "raw_json" is not null order by "seq" desc /.test(text)

/** Sessions in the order of their table: links and expired ones are passed over, which are those of an hour at most. */
const isOfOpenSessions = (text: string) => / from "console_sessions" where "opened_at" is not null /.test(text)

/** What needs a person is found by indexes, and is so little that it is put in order. */
const isOfAttention = (text: string) =>
  / left join "attention_snoozes" | from "signer_spends" .* group by "mint"$/.test(text)

async function planOnSqlite({ db }: Store, { sql: text, parameters }: CompiledQuery): Promise<Plan> {
  const explain = CompiledQuery.raw(`explain query plan ${text}`, [...parameters])
  const { rows } = await db.executeQuery<{ detail: string }>(explain)
  const lines = rows.map(({ detail }) => detail)
  // As many rows as the page has, in the order of the table or of the few that an index is of.
  const isPage =
    / limit /.test(text) &&
    (!/ where /.test(text) ||
      isOfListedTokens(text) ||
      isOfOpenSessions(text) ||
      lines.some((line) => / transactions_by_sends$/.test(line)))
  // At most as many rows as a step takes are put in order.
  const isStep = /"sequence" > \? and "sequence" <= \?/.test(text)
  // What a part of the statement has found by an index, and rows that the statement itself contains.
  const isFound = (line: string) =>
    lines.includes(line.replace('SCAN', 'CO-ROUTINE')) || /^SCAN (leases|CONSTANT ROW|\d+-ROW VALUES)/.test(line)
  return {
    text: lines.join('\n'),
    // What numbers the rows is SQLite's own number of each.
    led: lines
      .filter((line) => line.startsWith('SEARCH'))
      .flatMap((line) => words(/\(.*\)$/.exec(line)?.[0] ?? ''))
      // The only expression that an index has is a symbol in upper case.
      .flatMap((word) => (word === 'rowid' ? ['seq', 'sequence'] : [word === 'expr' ? 'symbol' : word])),
    faults: lines.filter(
      (line) =>
        (/TEMP B-TREE/.test(line) && !isStep && !isOfAttention(text)) ||
        (line.startsWith('SCAN ') && !isFound(line) && !isPage),
    ),
  }
}

async function planOnPostgres(store: Store, { sql: text, parameters }: CompiledQuery): Promise<Plan> {
  const lines = await store.write(async (tx) => {
    // With many rows, and where an index has the order: what is left of these is without an alternative.
    await sql`set local enable_seqscan = off; set local enable_sort = off; set local random_page_cost = 1.1`.execute(tx)
    const { rows } = await tx.executeQuery<Record<string, string>>(
      CompiledQuery.raw(`explain ${text}`, [...parameters]),
    )
    return rows.map((row) => row['QUERY PLAN']!.trim())
  })
  return {
    text: lines.join('\n'),
    led: lines.filter((line) => line.startsWith('Index Cond')).flatMap(words),
    faults: lines.filter(
      (line) =>
        /Seq Scan (?!on leases)/.test(line) || (/^(->\s+)?(Incremental )?Sort\b/.test(line) && !isOfAttention(text)),
    ),
  }
}
