/** The store on PostgreSQL: a pool, transactions that are tried again, writes nowhere but in `write`. */
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type pg from 'pg'
import { type ApiError, internal } from '../errors.ts'
import { rememberFaults } from './faults.ts'
import type { SchemaDialect } from './migrations/dialect.ts'
import { isCurrent, migrate } from './migrations/migrate.ts'
import type { Tables } from './schema.ts'
import type { Store } from './store.ts'
import { duplicateKey, refuseNestedWrite, runWork } from './work.ts'

const POOL_SIZE = 10
const ATTEMPTS = 4
const DUPLICATE = '23505'
/** Serialization failure, deadlock, and a key that another process took meanwhile: the next attempt sees what that one did. */
const TRY_AGAIN = new Set(['40001', '40P01', DUPLICATE])
/** A lock or a statement took longer than the session allows. */
const TIMED_OUT = new Set(['55P03', '57014'])
const INT8 = 20

const DIALECT: SchemaDialect = {
  blob: 'bytea',
  sequence: { type: 'bigint', build: (column) => column.generatedByDefaultAsIdentity().primaryKey() },
}

/** Outside `write` a session reads only; a stuck statement or an abandoned transaction ends by itself. */
const SESSION = `
  set default_transaction_read_only = on;
  set statement_timeout = '30s';
  set lock_timeout = '10s';
  set idle_in_transaction_session_timeout = '60s'`

export interface PostgresOptions {
  /** `postgres://…`; it holds the password, and appears in no error. */
  url: string
  poolSize?: number
}

export async function openPostgres({ url, poolSize = POOL_SIZE }: PostgresOptions): Promise<Store> {
  if (!URL.canParse(url)) throw internal('the database URL is not a URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  const { default: driver } = await import('pg')
  try {
    await migrateDatabase(driver, url)
  } catch (error) {
    throw withoutSecrets(error, url)
  }

  const db = connect(driver, url, poolSize, SESSION)
  const running = new Set<Promise<unknown>>()
  const faults = rememberFaults()
  let closing: Promise<void> | undefined

  async function attempt<T>(work: Parameters<typeof runWork<T>>[1]): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await db
          .transaction()
          .setAccessMode('read write')
          .execute((tx) => runWork(tx, work))
      } catch (error) {
        const code = error instanceof driver.DatabaseError ? (error.code ?? '') : ''
        if (TRY_AGAIN.has(code) && tried < ATTEMPTS) {
          await delay(Math.random() * 20 * tried)
          continue
        }
        if (code === DUPLICATE) throw duplicateKey(error)
        if (TIMED_OUT.has(code) || TRY_AGAIN.has(code)) throw internal('database is busy: try again', { cause: error })
        throw error
      }
    }
  }

  return {
    kind: 'postgres',
    db,
    async write(work) {
      refuseNestedWrite()
      if (closing) throw internal('the store is closed')
      const written = attempt(work)
      running.add(written)
      try {
        const value = await written
        faults.wrote()
        return value
      } catch (error) {
        faults.saw(error)
        throw error
      } finally {
        running.delete(written)
      }
    },
    async ping() {
      await sql`select 1`.execute(db)
    },
    fault: () => faults.current(),
    close() {
      closing ??= Promise.allSettled(running).then(() => db.destroy())
      return closing
    },
  }
}

/** On a connection of its own, without the session's limits: kysely waits there for other processes that migrate. */
async function migrateDatabase(driver: typeof pg, url: string): Promise<void> {
  const db = connect(driver, url, 1, '')
  try {
    if (!(await isCurrent(db))) await migrate(db, DIALECT)
  } finally {
    await db.destroy()
  }
}

function connect(driver: typeof pg, url: string, size: number, session: string): Kysely<Tables> {
  const pool = new driver.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: 10_000,
    application_name: 'svc',
    onConnect: async (client) => {
      if (session !== '') await client.query(session)
    },
    types: {
      // Times and sequences are far below 2^53; amounts are text.
      getTypeParser: (oid, format) => (oid === INT8 ? Number : driver.types.getTypeParser(oid, format)),
    },
  })
  // A connection that breaks is replaced: an idle one by the next query, one in use after its query has failed. Unheard,
  // the event of either would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** What went wrong, without the URL or its password: the driver's own error may hold them. */
function withoutSecrets(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || (error as Partial<ApiError>).code === 'internal_error') return error
  const { password } = new URL(url)
  let message =
    error instanceof AggregateError ? error.errors.map((one: Error) => one.message).join(', ') : error.message
  const secrets = [url, password, safelyDecoded(password)]
  for (const secret of secrets.filter((text) => text !== '')) message = message.replaceAll(secret, '***')
  return internal(`cannot open the PostgreSQL database: ${message}; check SVC_DATABASE_URL`)
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
