/** Statements that Kysely compiles once and that run with other values each time. */
import {
  type Compilable,
  type CompiledQuery,
  type DialectAdapter,
  type QueryResult,
  type RawBuilder,
  type SqliteDatabase,
  type SqliteStatement,
  sql,
} from 'kysely'
import type { Reader } from '../store.ts'

/** Placeholder of a value in the query that is built. */
export type Placeholders<P> = { readonly [K in keyof P]: RawBuilder<P[K]> }

/** A statement, run with its values by name. */
export interface Prepared<P, R> {
  all(reader: Reader, values: P): Promise<R[]>
  first(reader: Reader, values: P): Promise<R | undefined>
  /** Runs a statement that returns no rows, and returns how many rows it changed. */
  run(reader: Reader, values: P): Promise<number>
}

class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * Prepares the query that `build` makes of placeholders. Each connection compiles it at its first use. Values that
 * change its text (columns, the length of a list) cannot be placeholders.
 */
export function prepared<P extends object, R>(
  build: (db: Reader, values: Placeholders<P>) => Compilable<R>,
): Prepared<P, R> {
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<R>>()

  function compile(reader: Reader, adapter: DialectAdapter): CompiledQuery<R> {
    const query = compiled.get(adapter) ?? build(reader, PLACEHOLDERS as Placeholders<P>).compile()
    compiled.set(adapter, query)
    return query
  }

  /** Runs the statement on SQLite's connection itself, or through Kysely on PostgreSQL. */
  async function execute<T>(
    reader: Reader,
    values: P,
    directly: (statement: DirectStatement, parameters: unknown[]) => T,
    byKysely: (result: QueryResult<R>) => T,
  ): Promise<T> {
    const { adapter, plugins } = reader.getExecutor()
    // A plugin may change a query, or need its values.
    if (plugins.length > 0) return byKysely(await reader.executeQuery(build(reader, given(values)).compile()))
    const query = compile(reader, adapter)
    const parameters = withValues(query.parameters, values as Record<string, unknown>)
    const database = direct.get(reader)
    if (database === undefined) return byKysely(await reader.executeQuery<R>({ ...query, parameters }))
    return directly(database.prepare(query.sql), parameters)
  }

  return {
    all: (reader, values) =>
      execute<R[]>(
        reader,
        values,
        (statement, parameters) => statement.all(parameters) as R[],
        ({ rows }) => rows,
      ),
    first: (reader, values) =>
      execute<R | undefined>(
        reader,
        values,
        (statement, parameters) => statement.get(parameters) as R | undefined,
        ({ rows }) => rows[0],
      ),
    run: (reader, values) =>
      execute<number>(
        reader,
        values,
        (statement, parameters) => Number(statement.run(parameters).changes),
        ({ numAffectedRows }) => Number(numAffectedRows ?? 0),
      ),
  }
}

function withValues(parameters: readonly unknown[], values: Record<string, unknown>): unknown[] {
  const filled: unknown[] = []
  for (const value of parameters) filled.push(value instanceof Placeholder ? values[value.name] : value)
  return filled
}

const PLACEHOLDERS = new Proxy({}, { get: (_, name) => sql`${new Placeholder(String(name))}` })

const given = <P extends object>(values: P) =>
  new Proxy({}, { get: (_, name) => sql`${values[name as keyof P]}` }) as Placeholders<P>

/** A SQLite statement that can return its first row only. */
export interface DirectStatement extends SqliteStatement {
  get(parameters: readonly unknown[]): unknown
}

/** A SQLite connection that answers synchronously; it can be Kysely's too. */
export interface DirectDatabase extends SqliteDatabase {
  prepare(text: string): DirectStatement
}

/** Readers and transactions whose connection answers synchronously. */
const direct = new WeakMap<Reader, DirectDatabase>()

/**
 * Lets prepared statements of `reader` run synchronously on this connection, in the order of their calls, until the
 * returned function is called. After that, Kysely refuses statements of a finished transaction.
 */
export function runDirectly(reader: Reader, database: DirectDatabase): () => void {
  direct.set(reader, database)
  return () => void direct.delete(reader)
}
