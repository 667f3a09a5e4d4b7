/** Store on PostgreSQL with connection pools and transaction retries; sessions are read-only outside `write`. */
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type pg from 'pg'
import { type ApiError, internal } from '../errors.ts'
import { parseUrl } from '../urls.ts'
import { trackFaults } from './faults.ts'
import type { SchemaDialect } from './migrations/dialect.ts'
import { migrateDatabase, migrationState } from './migrations/migrate.ts'
import { refuseHalfApplied } from './migrations/schema-check.ts'
import type { Tables } from './schema.ts'
import type { OnMigrated, Store } from './store.ts'
import { databaseBusy, duplicateKey, refuseNestedWrite, runWork } from './work.ts'

/** Reads never wait for locks, so their own connections stay available while writes wait. */
const READ_CONNECTIONS = 4
const WRITE_CONNECTIONS = 8
/** Timeout in milliseconds for connecting and for waiting for a free connection. */
const CONNECT_MS = 5_000
const MAX_TRANSACTION_ATTEMPTS = 4
const DUPLICATE = '23505'
/** Serialization failure, deadlock and duplicate key: a retry sees what the other transaction has committed. */
const TRY_AGAIN = new Set(['40001', '40P01', DUPLICATE])
/** Timeouts of the session for locks, statements and transactions. */
const TIMED_OUT: Readonly<Record<string, string>> = {
  '55P03': 'another process holds a lock on it',
  '57014': 'a statement took too long',
  '25P04': 'a transaction took too long',
}
/** The server ended the session and rolled back its transaction, after an idle transaction or during a shutdown. */
const PAUSED = '25P03'
const ENDED = new Set([PAUSED, '57P01', '57P02', '57P03'])
const INT8 = 20

export const postgresSchema: SchemaDialect = {
  blob: 'bytea',
  sequence: { type: 'bigint', build: (column) => column.generatedByDefaultAsIdentity().primaryKey() },
}

/**
 * Sessions are read-only outside `write`. Transactions take milliseconds: a stalled one, because its process was
 * stopped or its machine is gone, loses its locks after five seconds, and others waiting for them fail after two.
 */
const SESSION = `
  set default_transaction_read_only = on;
  set statement_timeout = '10s';
  set lock_timeout = '2s';
  set idle_in_transaction_session_timeout = '5s';
  select set_config('transaction_timeout', '15s', false) where current_setting('server_version_num')::int >= 170000`

/** Migrations may take long on large tables while other processes wait, but an idle one ends after a minute. */
const MIGRATION_SESSION = "set idle_in_transaction_session_timeout = '60s'"

export interface PostgresOptions {
  /** Connection URL, `postgres://…`; it contains the password and never appears in errors. */
  url: string
  onMigrated?: OnMigrated | undefined
}

export async function openPostgres({ url, onMigrated }: PostgresOptions): Promise<Store> {
  if (parseUrl(url) === undefined)
    throw internal('the database URL is not a URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  const { default: driver } = await import('pg')
  try {
    await migrateOnce(driver, url, onMigrated)
  } catch (error) {
    throw withoutSecrets(error, url)
  }

  const db = connectPostgres(driver, url, READ_CONNECTIONS, SESSION)
  const writer = connectPostgres(driver, url, WRITE_CONNECTIONS, SESSION)
  const running = new Set<Promise<unknown>>()
  const faults = trackFaults()
  let closing: Promise<void> | undefined

  async function attempt<T>(work: Parameters<typeof runWork<T>>[1]): Promise<T> {
    for (let tried = 1; ; tried++) {
      let isCommitting = false
      let failure: unknown
      try {
        return await writer
          .transaction()
          .setAccessMode('read write')
          .execute(async (tx) => {
            try {
              const value = await runWork(tx, work)
              isCommitting = true
              return value
            } catch (error) {
              failure = error
              throw error
            }
          })
      } catch (error) {
        // When the connection is lost, the rollback fails too; the first error contains the cause.
        const thrown = failure ?? error
        const code = thrown instanceof driver.DatabaseError ? (thrown.code ?? '') : ''
        // A commit that was interrupted may have succeeded, so it is not retried; the caller has to check the outcome.
        const isUndone = !isCommitting || code === PAUSED || isUnsent(thrown)
        const mayRepeat = TRY_AGAIN.has(code) || (isLost(thrown, code) && isUndone)
        if (mayRepeat && tried < MAX_TRANSACTION_ATTEMPTS) {
          await delay(Math.random() * 20 * tried)
          continue
        }
        throw withDatabaseErrors(thrown, code)
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
        faults.recordWrite()
        return value
      } catch (error) {
        faults.recordError(error)
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
      closing ??= Promise.allSettled(running).then(async () => {
        await Promise.all([db.destroy(), writer.destroy()])
      })
      return closing
    },
  }
}

/** Whether the session is lost, according to the server or the driver. */
function isLost(error: unknown, code: string): boolean {
  if (code !== '') return ENDED.has(code)
  if (!(error instanceof Error)) return false
  return isUnsent(error) || /^Connection terminated|ECONNRESET|EPIPE/.test(error.message)
}

/** Whether the driver knew that the session had ended before it sent anything. */
const isUnsent = (error: unknown) => error instanceof Error && / is not queryable$/.test(error.message)

/** Translates the error of a failed transaction into an error of the API. */
function withDatabaseErrors(error: unknown, code: string): unknown {
  if (code === DUPLICATE) return duplicateKey(error)
  if (TRY_AGAIN.has(code)) return databaseBusy(error)
  if (code in TIMED_OUT) return databaseBusy(error, TIMED_OUT[code])
  if (error instanceof Error && error.message === 'timeout exceeded when trying to connect') {
    return databaseBusy(error, 'every connection is taken, or it does not answer')
  }
  if (isLost(error, code))
    return internal('the connection to the database was lost: try again', { cause: error, retryAfter: 1 })
  return error
}

/** Migrates on a separate connection with separate limits, because kysely waits there for other migrating processes. */
async function migrateOnce(driver: typeof pg, url: string, onMigrated?: OnMigrated): Promise<void> {
  const db = connectPostgres(driver, url, 1, MIGRATION_SESSION)
  try {
    const state = await migrationState(db)
    if (state.pending.length === 0) return
    await refuseHalfApplied(db, state)
    await migrateDatabase(db, postgresSchema)
    if (state.applied.length > 0) onMigrated?.({ applied: state.pending, copy: null })
  } finally {
    await db.destroy()
  }
}

export function connectPostgres(driver: typeof pg, url: string, size: number, session: string): Kysely<Tables> {
  const pool = new driver.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'svc',
    onConnect: async (client) => {
      await client.query(session)
    },
    types: {
      // Times and sequences are far below 2^53; amounts are stored as text.
      getTypeParser: (oid, format) => (oid === INT8 ? Number : driver.types.getTypeParser(oid, format)),
    },
  })
  // A broken connection is replaced by the pool, and its query fails. Without these listeners, its error event would
  // end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** Returns the error without the URL and its password, which the driver's own message may contain. */
export function withoutSecrets(error: unknown, url: string): unknown {
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
