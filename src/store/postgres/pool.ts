/** The connection pool of PostgreSQL: one set of connections, divided between reads, writes, workers and readiness. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely'
import type pg from 'pg'
import { internal } from '../../platform/errors.ts'
import type { Tables } from '../schema.ts'
import { databaseBusy } from '../writing/work.ts'
import { postgresError, sqlState } from './errors.ts'
import { createPoolGate, type PoolUsage, type PoolUser } from './gate.ts'
import { publishPoolWait } from './pool-waits.ts'
import type { PostgresSettings } from './settings.ts'
import type { PostgresTarget } from './tls.ts'

const INT8 = 20

/**
 * Sessions are read-only outside `write`. Transactions take milliseconds. If a process or machine stops inside one, its
 * locks are released after seconds, and those waiting for them fail sooner.
 */
const sessionOf = ({ lockMs, statementMs, transactionMs, idleTransactionMs }: PostgresSettings) => `
  set default_transaction_read_only = on;
  set statement_timeout = ${statementMs};
  set lock_timeout = ${lockMs};
  set idle_in_transaction_session_timeout = ${idleTransactionMs};
  select set_config('transaction_timeout', '${transactionMs}', false)
    where current_setting('server_version_num')::int >= 170000`

/**
 * Migrations of large tables may take long while other processes wait, but an idle one ends after a minute. They may
 * write, whatever the default of the role or the database.
 */
const MIGRATION_SESSION = "set default_transaction_read_only = off; set idle_in_transaction_session_timeout = '60s'"

/** No client waits for the workers, so they may wait longer for a connection than a request. */
const WORKER_WAIT_MS = 10_000

interface PostgresPools {
  /** For single statements; it throws errors of the API. */
  reader(user: PoolUser): Kysely<Tables>
  /** For transactions; it throws errors of the driver. */
  writer(user: PoolUser): Kysely<Tables>
  usage(): PoolUsage
  close(): Promise<void>
}

/** Opens the pool of a process; connections are opened on demand. */
export function openPools(driver: typeof pg, target: PostgresTarget, settings: PostgresSettings): PostgresPools {
  const pool = newPool(driver, target, settings, settings.poolSize, sessionOf(settings))
  const gate = createPoolGate(settings.poolSize)
  const late = () => databaseBusy(undefined, 'every connection to it is taken')
  const gated = (user: PoolUser): PostgresPool => ({
    async connect() {
      const waitMs = user === 'workers' ? WORKER_WAIT_MS : settings.poolTimeoutMs
      const started = performance.now()
      let leave: (() => void) | undefined
      try {
        leave = await gate.take(user, waitMs, late)
        const client = leasedClient(await pool.connect(), leave)
        publishPoolWait(user, started, false)
        return client
      } catch (error) {
        publishPoolWait(user, started, true)
        leave?.()
        throw error
      }
    },
    // All users share the pool, so `close` ends it once.
    end: async () => {},
  })
  return {
    reader: (user) => new Kysely<Tables>({ dialect: new ReadingDialect({ pool: gated(user) }) }),
    writer: (user) => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: gated(user) }) }),
    usage: () => gate.usage(),
    close: () => pool.end(),
  }
}

/** Opens one connection with the time limits of migrations. */
export const openMigrator = (driver: typeof pg, target: PostgresTarget, settings: PostgresSettings): Kysely<Tables> =>
  openConnection(driver, target, settings, MIGRATION_SESSION)

/** Opens one connection outside the pool and runs the statements of `session` on it first. */
export function openConnection(
  driver: typeof pg,
  target: PostgresTarget,
  settings: PostgresSettings,
  session: string,
): Kysely<Tables> {
  const pool = newPool(driver, target, settings, 1, session)
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

function newPool(
  driver: typeof pg,
  target: PostgresTarget,
  { connectMs }: PostgresSettings,
  size: number,
  session: string,
): pg.Pool {
  const options = { ...target, connectionTimeoutMillis: connectMs, application_name: 'svc' }
  const check = sessionCheck(() => new driver.Client({ ...options, query_timeout: connectMs }))
  const pool = new driver.Pool({
    ...options,
    Client: driver.Client,
    max: size,
    onConnect: async (client) => {
      await check(client)
      await client.query(session)
    },
    types: {
      // Times and sequences are far below 2^53; amounts are stored as text.
      getTypeParser: (oid, format) => (oid === INT8 ? Number : driver.types.getTypeParser(oid, format)),
    },
  })
  // The pool replaces a broken connection, and its query fails. Without these listeners its error event would end the
  // process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Frees the gate's place when the connection is released. */
function leasedClient(client: pg.PoolClient, leave: () => void): PostgresPoolClient {
  return {
    query: client.query.bind(client) as PostgresPoolClient['query'],
    release() {
      client.release()
      leave()
    },
  }
}

/** Translates errors of single statements, and failures to get a connection. */
class ReadingDialect extends PostgresDialect {
  override createDriver(): Driver {
    const driver = super.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    const translated = new WeakSet<DatabaseConnection>()
    driver.acquireConnection = async () => {
      const connection = await acquire().catch(translate)
      if (!translated.has(connection)) {
        translated.add(connection)
        const execute = connection.executeQuery.bind(connection)
        connection.executeQuery = <R>(query: CompiledQuery) => execute<R>(query).catch(translate)
      }
      return connection
    }
    return driver
  }
}

function translate(error: unknown): never {
  throw postgresError(error)
}

// Refuses a connection pooler that gives each transaction of a client another PostgreSQL session.

/** Other clients of the pooler may have the session, so the check is repeated. */
const ROUNDS = 5
/** PgBouncer's code for a transaction when it pools single statements. */
const PROTOCOL_VIOLATION = '08P01'

/**
 * Returns a check of new connections that runs before anything is set on them. A setting would stay in a session that
 * another client may get next. Throws internal_error that says what to do. `newClient` makes an unconnected client.
 */
function sessionCheck(newClient: () => pg.Client): (client: pg.ClientBase) => Promise<void> {
  let keepsSessions = false
  return async (client) => {
    const server = await serverProcess(client)
    // Without a pooler, PostgreSQL reports this id to its client; a pooler gives each client an id of its own.
    if (server === (client as { processID?: unknown }).processID || keepsSessions) return
    const other = newClient()
    other.on('error', () => {})
    try {
      await other.connect()
      for (let round = 0; round < ROUNDS; round++) {
        if (await isShared(client, server, other)) throw sharedSessions()
      }
      keepsSessions = true
    } finally {
      await other.end().catch(() => {})
    }
  }
}

/** Whether a transaction of `other` gets the session of `client`, or moves `client` to another one. */
async function isShared(client: pg.ClientBase, server: number, other: pg.Client): Promise<boolean> {
  try {
    await other.query('begin')
  } catch (error) {
    if (sqlState(error) === PROTOCOL_VIOLATION) return true
    throw error
  }
  // If the pooler has one session left, the client would wait for it.
  const isTaken = (await serverProcess(other)) === server || (await serverProcess(client)) !== server
  await other.query('rollback')
  return isTaken
}

async function serverProcess(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id')
  return rows[0]?.id ?? 0
}

const sharedSessions = () =>
  internal(
    'SVC_DATABASE_URL points to a connection pooler that shares sessions between clients (PgBouncer in transaction or statement mode). svc needs its own sessions for limits, locks and LISTEN: use the URL of PostgreSQL itself, or set pool_mode = session for this database',
  )
