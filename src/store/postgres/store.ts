/** Store on PostgreSQL with a connection pool and transaction retries; sessions are read-only outside `write`. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import { internal } from '../../platform/errors.ts'
import { trackFaults } from '../faults.ts'
import { postgresBytes } from '../installation/bytes.ts'
import type { SchemaDialect } from '../migrations/dialect.ts'
import { type MigrationState, migrateDatabase, migrationState } from '../migrations/migrate.ts'
import { refuseAdditions, refuseHalfApplied } from '../migrations/schema-check.ts'
import type { Tables } from '../schema.ts'
import type { OnMigrated, OnMigrating, Store, Tx } from '../store.ts'
import { sendingWakeups } from '../workers/wakeups.ts'
import { refuseNestedWrite } from '../writing/work.ts'
import { postgresAdditions } from './additions.ts'
import { mayRepeat, openingError, postgresError } from './errors.ts'
import type { PoolUser } from './gate.ts'
import { openMigrator, openPools } from './pool.ts'
import { type PostgresSettings, postgresSettings, requirePostgresUrl } from './settings.ts'
import { type PostgresTarget, postgresTarget } from './tls.ts'
import { createPostgresWakeups } from './wakeups.ts'

const MAX_TRANSACTION_ATTEMPTS = 4

export const postgresSchema: SchemaDialect = {
  blob: 'bytea',
  rateAdmission: true,
  sequence: { type: 'bigint', build: (column) => column.generatedByDefaultAsIdentity().primaryKey() },
}

export interface PostgresOptions {
  /** Connection URL, `postgres://…`; it contains the password and never appears in errors. */
  url: string
  /** Pool, timeouts and TLS; the defaults of the settings without it. */
  settings?: PostgresSettings
  onMigrating?: OnMigrating | undefined
  onMigrated?: OnMigrated | undefined
}

export async function openPostgres({
  url,
  settings = postgresSettings(),
  onMigrating,
  onMigrated,
}: PostgresOptions): Promise<Store> {
  requirePostgresUrl(url)
  // The files of certificates are read once, so that one that is changed for the worse stops no running daemon.
  const target = postgresTarget(url, settings.tls)
  const { default: driver } = await import('pg')
  try {
    await migrateOnce(driver, target, { settings, onMigrating, onMigrated })
  } catch (error) {
    throw openingError(error, url)
  }

  const pools = openPools(driver, target, settings)
  const running = new Set<Promise<unknown>>()
  const faults = trackFaults()
  const wakeups = createPostgresWakeups({
    // A notification is allowed in a read-only session.
    notify: (channel, payload) => sql`select pg_notify(${channel}, ${payload})`.execute(workers.db),
    newClient: () => newListener(driver, target, settings),
  })
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    await Promise.allSettled(running)
    await wakeups.close()
    await pools.close()
  }

  /** The store on the connections of one user; requests have separate ones for reads and writes. */
  function storeOf(reading: PoolUser, writing: PoolUser): Store {
    const [db, writer] = [pools.reader(reading), pools.writer(writing)]
    return {
      kind: 'postgres',
      db,
      wakeups,
      poolUsage: () => pools.usage(),
      write: sendingWakeups(wakeups, async (work) => {
        refuseNestedWrite()
        if (closing) throw internal('the store is closed')
        const written = writeRepeatedly(writer, work)
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
      }),
      // The server's autovacuum does it.
      reclaim: async () => false,
      async ping() {
        await sql`select 1`.execute(db)
      },
      measure: async () => ({ databaseBytes: await postgresBytes(db), walBytes: null }),
      fault: () => faults.current(),
      close: () => (closing ??= close()),
    }
  }

  const workers = storeOf('workers', 'workers')
  return { ...storeOf('reads', 'writes'), reserved: { workers, readiness: storeOf('readiness', 'readiness') } }
}

/** Runs the work in a transaction, again after conflicts and lost connections. Throws errors of the API. */
async function writeRepeatedly<T>(writer: Kysely<Tables>, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    let isCommitting = false
    let failure: unknown
    try {
      return await writer
        .transaction()
        .setAccessMode('read write')
        .execute(async (tx) => {
          try {
            const value = await work(tx)
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
      if (!mayRepeat(thrown, isCommitting) || tried === MAX_TRANSACTION_ATTEMPTS) throw postgresError(thrown)
      await delay(Math.random() * 20 * tried)
    }
  }
}

/** Migrates on a separate connection with separate limits, because kysely waits there for other migrating processes. */
async function migrateOnce(
  driver: typeof pg,
  target: PostgresTarget,
  { settings, onMigrating, onMigrated }: Required<Omit<PostgresOptions, 'url'>>,
): Promise<void> {
  const db = openMigrator(driver, target, settings)
  try {
    refuseAdditions(await postgresAdditions(db))
    const state = await migratableState(db)
    if (state.pending.length === 0) return
    if (state.applied.length > 0) onMigrating?.(state.pending)
    await migrateDatabase(db, postgresSchema)
    if (state.applied.length > 0) onMigrated?.({ applied: state.pending, copy: null })
  } finally {
    await db.destroy()
  }
}

/** Returns the state of a database that is as its migrations leave it. Throws internal_error for any other. */
async function migratableState(db: Kysely<Tables>): Promise<MigrationState> {
  for (let state = await migrationState(db); ; ) {
    try {
      if (state.pending.length > 0) await refuseHalfApplied(db, state)
      return state
    } catch (error) {
      // Another process may have migrated between the look at the record and the look at the tables.
      const later = await migrationState(db)
      if (later.pending.length === state.pending.length) throw error
      state = later
    }
  }
}

/** A connection of its own to listen on, because one of the pool may be closed or used by somebody else at any time. */
function newListener(driver: typeof pg, target: PostgresTarget, { connectMs }: PostgresSettings): pg.Client {
  return new driver.Client({
    ...target,
    application_name: 'svc wake-ups',
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
    keepAlive: true,
  })
}
