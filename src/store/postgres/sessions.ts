/** Refuses a connection pooler that gives a client another session of PostgreSQL for each transaction. */
import type pg from 'pg'
import { internal } from '../../platform/errors.ts'
import { sqlState } from './errors.ts'

/** Other clients of the pooler may hold the session that is looked for, so it is looked for more than once. */
const ROUNDS = 5
/** PgBouncer's code for a transaction where it pools single statements. */
const PROTOCOL_VIOLATION = '08P01'

/**
 * Returns a check of new connections, before anything is set on them: a setting would stay in a session that the next
 * statement of somebody else may get. Throws internal_error with the way out. `newClient` makes an unconnected client.
 */
export function sessionCheck(newClient: () => pg.Client): (client: pg.ClientBase) => Promise<void> {
  let keepsSessions = false
  return async (client) => {
    const server = await serverProcess(client)
    // PostgreSQL has told its own client the same id; a pooler gives each of its clients an id that it made up.
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

/** Whether a transaction of `other` gets the session of `client`, or moves that to another one. */
async function isShared(client: pg.ClientBase, server: number, other: pg.Client): Promise<boolean> {
  try {
    await other.query('begin')
  } catch (error) {
    if (sqlState(error) === PROTOCOL_VIOLATION) return true
    throw error
  }
  // Where the pooler has one session left, the client would wait for it.
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
    'SVC_DATABASE_URL leads to a connection pooler that shares sessions between clients (PgBouncer in transaction or statement mode), and svc needs sessions of its own for limits, locks and LISTEN: give the URL of PostgreSQL itself, or set pool_mode = session for this database',
  )
