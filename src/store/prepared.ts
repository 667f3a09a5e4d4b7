/** Statements that Kysely builds once and a database runs with other values each time; on SQLite without its promises. */
import {
  type Compilable,
  type CompiledQuery,
  type DialectAdapter,
  type RawBuilder,
  type SqliteDatabase,
  sql,
} from 'kysely'
import type { Reader } from './store.ts'

/** Stands for each value in the query that is built. */
export type Placeholders<P> = { readonly [K in keyof P]: RawBuilder<P[K]> }

type Soon<T> = T | Promise<T>

/** A statement with its values by name. Where the database answers at once, so do these; `await` takes either. */
export interface Prepared<P, R> {
  all(reader: Reader, values: P): Soon<R[]>
  first(reader: Reader, values: P): Soon<R | undefined>
  /** Runs a statement that returns no rows, and returns how many it changed. */
  run(reader: Reader, values: P): Soon<number>
}

class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

interface Result<R> {
  rows: R[]
  changes: number
}

/**
 * Prepares the query that `build` makes of placeholders. It is compiled at its first use by each connection, so values
 * that change its text (columns, the length of a list) cannot be placeholders.
 */
export function prepared<P extends object, R>(
  build: (db: Reader, values: Placeholders<P>) => Compilable<R>,
): Prepared<P, R> {
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<R>>()

  function compile(reader: Reader, adapter: DialectAdapter): CompiledQuery<R> {
    const known = compiled.get(adapter)
    if (known !== undefined) return known
    const query = build(reader, PLACEHOLDERS as Placeholders<P>).compile()
    compiled.set(adapter, query)
    return query
  }

  function execute(reader: Reader, values: P): Soon<Result<R>> {
    const { adapter, plugins } = reader.getExecutor()
    // A plugin may change a query, or wants to see it with its values.
    if (plugins.length > 0) return executeByKysely(reader, build(reader, given(values)).compile())
    const query = compile(reader, adapter)
    const parameters = query.parameters.map((value) =>
      value instanceof Placeholder ? (values as Record<string, unknown>)[value.name] : value,
    )
    const database = direct.get(reader)
    return database === undefined
      ? executeByKysely(reader, { ...query, parameters })
      : executeDirectly(database, query.sql, parameters)
  }

  return {
    all(reader, values) {
      const result = execute(reader, values)
      return result instanceof Promise ? result.then(({ rows }) => rows) : result.rows
    },
    first(reader, values) {
      const result = execute(reader, values)
      return result instanceof Promise ? result.then(({ rows }) => rows[0]) : result.rows[0]
    },
    run(reader, values) {
      const result = execute(reader, values)
      return result instanceof Promise ? result.then(({ changes }) => changes) : result.changes
    },
  }
}

const PLACEHOLDERS = new Proxy({}, { get: (_, name) => sql`${new Placeholder(String(name))}` })

const given = <P extends object>(values: P) =>
  new Proxy({}, { get: (_, name) => sql`${values[name as keyof P]}` }) as Placeholders<P>

/** The readers and transactions whose connection answers at once. */
const direct = new WeakMap<Reader, SqliteDatabase>()

/**
 * Lets prepared statements of `reader` run on this connection at once, in the order of their calls, until the returned
 * function is called. Kysely then refuses a transaction that is over.
 */
export function runDirectly(reader: Reader, database: SqliteDatabase): () => void {
  direct.set(reader, database)
  return () => void direct.delete(reader)
}

function executeDirectly<R>(database: SqliteDatabase, text: string, parameters: readonly unknown[]): Result<R> {
  const statement = database.prepare(text)
  if (statement.reader) return { rows: statement.all(parameters) as R[], changes: 0 }
  return { rows: [], changes: Number(statement.run(parameters).changes) }
}

async function executeByKysely<R>(reader: Reader, query: CompiledQuery<R>): Promise<Result<R>> {
  const { rows, numAffectedRows } = await reader.executeQuery(query)
  return { rows, changes: Number(numAffectedRows ?? 0) }
}
