/** Databases on the one PostgreSQL server of a test run, which is launched when the first file asks for it. */
import { rmSync } from 'node:fs'
import { createServer, connect as openSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { json } from 'node:stream/consumers'
import pg from 'pg'
import { openStore } from '../../src/store/open.ts'
import { launchPostgres, type PostgresAddress } from './postgres-launch.ts'

/** Path of the socket on which the runner tells its workers where the server is. */
const SOCKET_VARIABLE = 'SVC_TEST_POSTGRES_SOCKET'

export interface PostgresServer {
  /** URL of a new, empty database. */
  createDatabase(): Promise<string>
  /** URL of a new database at the latest schema, without rows. */
  createMigratedDatabase(): Promise<string>
  password: string
  /** Drops the databases that were made; the server goes on for other files. */
  stop(): Promise<void>
}

/** The server, or why none can be run here. */
export async function startPostgres(): Promise<PostgresServer | { missing: string }> {
  const socket = process.env[SOCKET_VARIABLE]
  if (socket === undefined)
    throw new Error(`${SOCKET_VARIABLE} is not set: the test run's setup offers PostgreSQL there`)
  const answer = (await json(openSocket(socket))) as PostgresAddress | { missing: string }
  if ('missing' in answer) return answer
  const { url, password } = answer
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  admin.on('error', () => undefined)
  const databases: string[] = []
  const create = async (template: string) => {
    const name = `svc_${process.pid}_${++made}`
    await admin.query(`create database ${name} template ${template}`)
    databases.push(name)
    return new URL(`/${name}`, url).href
  }
  return {
    password,
    createDatabase: () => create('template1'),
    async createMigratedDatabase() {
      migrated ??= migrate(admin, url)
      return create(await migrated)
    },
    async stop() {
      for (const name of databases) await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    },
  }
}

let migrated: Promise<string> | undefined

/** Makes the template of this process's migrated databases; it goes with the server. */
async function migrate(admin: pg.Client, url: string): Promise<string> {
  const name = `svc_migrated_${process.pid}`
  await admin.query(`create database ${name}`)
  await (await openStore({ dataDir: tmpdir(), databaseUrl: new URL(`/${name}`, url).href })).close()
  return name
}

/** How many databases this process has made; their names differ from those of the other workers by its id. */
let made = 0

/** In the runner: offers the server to the workers, below the folder of the run. */
export async function offerPostgres(folder: string): Promise<{ close(): Promise<void> }> {
  let launched: ReturnType<typeof launchPostgres> | undefined
  const path = join(folder, 'postgres.socket')
  const offering = createServer((socket) => {
    launched ??= launchPostgres()
    void launched.then((answer) => socket.end(JSON.stringify(answer)))
    // A worker that was stopped meanwhile asks no more.
    socket.on('error', () => undefined)
  })
  await new Promise<void>((settle) => offering.listen(path, settle))
  process.env[SOCKET_VARIABLE] = path
  return {
    async close() {
      offering.close()
      delete process.env[SOCKET_VARIABLE]
      const server = await launched
      if (server !== undefined && 'stop' in server) await server.stop()
      rmSync(path, { force: true })
    },
  }
}
