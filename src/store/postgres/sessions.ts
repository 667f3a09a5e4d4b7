/** Refuses a connection pooler that gives each transaction of a client another PostgreSQL session. */
import type pg from 'pg'
import { internal } from '../../platform/errors.ts'
import { sqlState } from './errors.ts'

/** Other clients of the pooler may have the session, so the check is repeated. */
const ROUNDS = 5
/** PgBouncer's code for a transaction when it pools single statements. */
const PROTOCOL_VIOLATION = '08P01'

/**
 * Returns a check of new connections that runs before anything is set on them. A setting would stay in a session that
 * another client may get next. Throws internal_error that says what to do. `newClient` makes an unconnected client.
 */
export function sessionCheck(newClient: () => pg.Client): (client: pg.ClientBase) => Promise<void> {
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
