/** Databases on the one PostgreSQL server of a test run, which is launched when the first file asks for it. */
import { type AddressInfo, createServer, connect as openSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { json } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { launchPostgres, type PostgresAddress } from './postgres-launch.ts'

/**
 * Where tests run: everything on SQLite (`sqlite`, as without the variable), what asks for PostgreSQL there too (`both`),
 * or every service on PostgreSQL (`postgres`).
 */
export const DATABASE_CHOICE = process.env.SVC_TEST_DATABASE || 'sqlite'
if (!['sqlite', 'both', 'postgres'].includes(DATABASE_CHOICE))
  throw new Error(`SVC_TEST_DATABASE is ${DATABASE_CHOICE}, not sqlite, both or postgres`)

/** Port of 127.0.0.1 on which the runner tells its workers where the server is; a socket's path may be too long. */
const PORT_VARIABLE = 'SVC_TEST_POSTGRES_PORT'

/** What the runner answers; `failed` is why a server that should run here does not. */
type PostgresAnswer = PostgresAddress | { missing: string } | { failed: string }

export interface PostgresServer {
  /** URL of a new, empty database. */
  createDatabase(): Promise<string>
  /** URL of a new database at the latest schema, without rows. */
  createMigratedDatabase(): Promise<string>
  /** Drops one of them before the others, by its URL. */
  dropDatabase(url: string): Promise<void>
  password: string
  /** Drops the databases that were made; the server goes on for other files. */
  stop(): Promise<void>
}

/** The server for the tests of one file, whose databases go after the last of them; or why they run without one. */
export async function startPostgres(): Promise<PostgresServer | { missing: string }> {
  const server = await openPostgres()
  if (!('missing' in server)) afterAll(() => server.stop())
  return server
}

/** The server, or why tests run without one; rejects where one should run and did not start. */
export async function openPostgres(): Promise<PostgresServer | { missing: string }> {
  if (DATABASE_CHOICE === 'sqlite') return { missing: 'npm run test:postgres runs it' }
  const port = process.env[PORT_VARIABLE]
  if (port === undefined) throw new Error(`${PORT_VARIABLE} is not set: the test run's setup offers PostgreSQL there`)
  const answer = (await json(openSocket(Number(port), '127.0.0.1'))) as PostgresAnswer
  if ('missing' in answer) return answer
  if ('failed' in answer) throw new Error(`PostgreSQL did not start: ${answer.failed}`)
  const { url, password } = answer
  const admin = new pg.Pool({ connectionString: url, max: 1 })
  admin.on('error', () => undefined)
  const databases = new Set<string>()
  const drop = async (name: string) => {
    databases.delete(name)
    await admin.query(`drop database ${name} with (force)`)
  }
  const create = async (template: string) => {
    const name = `svc_${process.pid}_${++made}`
    // Its files are copied, in half of the processor time that a log of each page takes.
    await admin.query(`create database ${name} template ${template} strategy file_copy`)
    databases.add(name)
    return new URL(`/${name}`, url).href
  }
  return {
    password,
    createDatabase: () => create('template1'),
    async createMigratedDatabase() {
      migrated ??= migrate(admin, url).catch((error) => {
        // The next file tries again.
        migrated = undefined
        throw error
      })
      return create(await migrated)
    },
    dropDatabase: (made) => drop(new URL(made).pathname.slice(1)),
    async stop() {
      for (const name of [...databases]) await drop(name)
      await admin.end()
    },
  }
}

let migrated: Promise<string> | undefined

/** Makes the template of this process's migrated databases; it goes with the server. */
async function migrate(admin: pg.Pool, url: string): Promise<string> {
  const name = `svc_migrated_${process.pid}`
  // Of an attempt that failed.
  await admin.query(`drop database if exists ${name} with (force)`)
  await admin.query(`create database ${name}`)
  await (await openStore({ dataDir: tmpdir(), databaseUrl: new URL(`/${name}`, url).href })).close()
  return name
}

/** How many databases this process has made; their names differ from those of the other workers by its id. */
let made = 0

/** In the runner: offers the server to the workers. */
export async function offerPostgres(): Promise<{ close(): Promise<void> }> {
  let launched: ReturnType<typeof launchPostgres> | undefined
  const offering = createServer((socket) => {
    const answer = (value: PostgresAnswer) => socket.end(JSON.stringify(value))
    launched ??= launchPostgres()
    void launched.then(answer, (error: Error) => answer({ failed: error.message }))
    // A worker that was stopped meanwhile asks no more.
    socket.on('error', () => undefined)
  })
  await new Promise<void>((settle) => offering.listen(0, '127.0.0.1', settle))
  process.env[PORT_VARIABLE] = String((offering.address() as AddressInfo).port)
  return {
    async close() {
      offering.close()
      delete process.env[PORT_VARIABLE]
      const server = await launched?.catch(() => undefined)
      if (server !== undefined && 'stop' in server) await server.stop()
    },
  }
}
