/** The database of a run's services, daemons and commands: SQLite in the data folder, or one of the run's PostgreSQL server. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describe, it } from 'vitest'
import { DATABASE_CHOICE, openPostgres, type PostgresServer } from '../store/postgres-server.ts'

export const onPostgres = DATABASE_CHOICE === 'postgres'

/** What only SQLite has; where the run's database is PostgreSQL it is skipped, under a name that gives the reason. */
export function describeOnSqliteAlone(title: string, reason: string, suite: () => void): void {
  describe.skipIf(onPostgres)(`${title} (on SQLite alone: ${reason})`, suite)
}

/** The same for one test. */
export function itOnSqliteAlone(title: string, reason: string, test: () => Promise<void>): void {
  it.skipIf(onPostgres)(`${title} (on SQLite alone: ${reason})`, test)
}

/** Settings that lead a process to its database; none for SQLite. */
export interface DatabaseSettings {
  'database-url'?: string
  'encryption-key'?: string
  'postgres.pool-timeout-ms'?: number
}

interface FolderDatabase {
  settings: Promise<Required<DatabaseSettings>>
  /** The data folder, or the one it will be made in; the database goes when this one has gone. */
  anchor: string
}

/** By data folder, so that one that is opened again finds its rows again. */
const databases = new Map<string, FolderDatabase>()
let server: Promise<PostgresServer> | undefined

/**
 * Settings of the folder's database, which is made when it is first asked for, at the latest schema and without rows;
 * none where the test's own settings lead to one.
 */
export async function databaseSettings(dataDir: string, own: object = {}): Promise<DatabaseSettings> {
  if (!onPostgres || Object.hasOwn(own, 'database-url')) return {}
  const folder = resolve(dataDir)
  dropOfGoneFolders()
  let found = databases.get(folder)
  if (found === undefined) {
    found = { settings: makeDatabase(), anchor: existsSync(folder) ? folder : dirname(folder) }
    databases.set(folder, found)
  }
  return found.settings
}

/** The same as an environment for a process that has `env`; nothing where that leads to a database itself. */
export async function databaseEnvironment(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<Record<string, string>> {
  if (!onPostgres || env.SVC_DATABASE_URL !== undefined || env.SVC_DATABASE_URL_FILE !== undefined) return {}
  const { 'database-url': url = '', 'encryption-key': key = '' } = await databaseSettings(dataDir)
  const hasKey = env.SVC_ENCRYPTION_KEY !== undefined || env.SVC_ENCRYPTION_KEY_FILE !== undefined
  return { SVC_DATABASE_URL: url, ...(!hasKey && { SVC_ENCRYPTION_KEY: key }) }
}

/** The environment of a command: `home` with its database, or that of another data folder which the command names. */
export async function commandEnvironment(
  args: readonly string[],
  home: { env: Record<string, string>; dataDir: string },
  more: Record<string, string>,
  cwd: string,
): Promise<Record<string, string>> {
  if (!onPostgres) return { ...home.env, ...more }
  const { SVC_DATABASE_URL: _, SVC_ENCRYPTION_KEY: __, ...rest } = home.env
  const given = { ...rest, ...more }
  const dataDir = resolve(cwd, dataFolderIn(args) ?? (more.SVC_DATA_DIR || home.dataDir))
  return { ...given, ...(await databaseEnvironment(dataDir, given)) }
}

function dataFolderIn(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => /^--data-dir(=|$)/.test(arg))
  return at < 0 ? undefined : (args[at]?.split('=')[1] ?? args[at + 1])
}

async function makeDatabase(): Promise<Required<DatabaseSettings>> {
  server ??= startServer()
  const url = await (await server).createMigratedDatabase()
  const key = randomBytes(32).toString('hex')
  // Hundreds of requests at once wait long for a connection on a busy machine; few tests are about that.
  return { 'database-url': url, 'encryption-key': key, 'postgres.pool-timeout-ms': 60_000 }
}

async function startServer(): Promise<PostgresServer> {
  const started = await openPostgres()
  if ('missing' in started) throw new Error(`SVC_TEST_DATABASE is postgres, and there is none here: ${started.missing}`)
  return started
}

/** Databases of tests that have ended; those of the last ones go with the server. */
function dropOfGoneFolders(): void {
  for (const [folder, { settings, anchor }] of databases) {
    if (existsSync(anchor)) continue
    databases.delete(folder)
    void settings.then(async ({ 'database-url': url }) => (await server)?.dropDatabase(url)).catch(() => undefined)
  }
}
