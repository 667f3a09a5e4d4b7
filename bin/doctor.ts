/** What `svc doctor` checks: each check stands alone, so that one fault does not hide the next. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from '../commands/command.ts'
import { Problem } from '../commands/ui/problem.ts'
import { type Config, DAEMON_FILE, DATABASE_FILE, ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE } from '../src/config.ts'
import { ApiError } from '../src/errors.ts'
import { FileFault, requireDataFolder } from '../src/files.ts'
import { redactorOf } from '../src/redaction.ts'
import type { Store } from '../src/store/store.ts'
import { chosenKey, readKeyFile, runningDaemon } from './connection.ts'
import { openHttp } from './http-transport.ts'

const NODE = [20, 19] as const
const CHAIN_FILE = 'chain.db'
const PROBE_MS = 5_000

const ok = (check: string, detail: string): Check => ({ check, status: 'ok', detail, fix: null })
const warn = (check: string, detail: string, fix: string): Check => ({ check, status: 'warn', detail, fix })
const fail = (check: string, detail: string, fix: string): Check => ({ check, status: 'fail', detail, fix })

/** Runs every check that the configuration allows; nothing is created. */
export async function diagnose(load: () => Promise<Config>): Promise<Check[]> {
  const checks = [nodeVersion()]
  let config: Config
  try {
    config = await load()
  } catch (error) {
    return [...checks, fail('configuration', (error as Error).message, 'correct that setting, then run this again')]
  }
  checks.push(ok('configuration', 'every setting can be read'), dataFolder(config), ...keyFiles(config))
  checks.push(...(await database(config)), ...(await chainFile(config)), await daemon(config))
  if (config.values.api !== undefined) checks.push(...(await api(config, config.values.api)))
  const { chainChecks } = await import('./doctor-chain.ts')
  checks.push(...(await chainChecks(config, { ok, warn, fail })))
  const { text } = redactorOf(config)
  return checks.map((check) => ({ ...check, detail: text(check.detail) }))
}

function nodeVersion(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const enough = major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
  return enough
    ? ok('node', process.versions.node)
    : fail('node', process.versions.node, `install Node.js ${NODE.join('.')} or later`)
}

function dataFolder({ dataDir }: Config): Check {
  if (!existsSync(dataDir)) return ok('data folder', `${dataDir} (made on first use)`)
  const stats = statSync(dataDir)
  if (!stats.isDirectory()) return fail('data folder', `${dataDir} is not a folder`, 'choose another with --data-dir')
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return fail(
      'data folder',
      `${dataDir} cannot be written`,
      `chown it to this user, or choose another with --data-dir`,
    )
  }
  try {
    requireDataFolder(dataDir)
  } catch (error) {
    const { said: what, next } = error as FileFault
    return fail('data folder', what, next)
  }
  if ((stats.mode & 0o077) !== 0) return warn('data folder', `${dataDir} can be read by others`, `chmod 700 ${dataDir}`)
  return ok('data folder', dataDir)
}

function keyFiles({ dataDir, values }: Config): Check[] {
  const local = [OPERATOR_KEY_FILE, ENCRYPTION_KEY_FILE]
    .map((name) => join(dataDir, name))
    .filter((file) => existsSync(file))
  const chosen = values['api-key-file']
  return [...local, ...(chosen === undefined ? [] : [chosen])].map((file) => {
    try {
      readKeyFile(file)
      return ok('key file', file)
    } catch (error) {
      const next = error instanceof FileFault || error instanceof Problem ? error.next : undefined
      const what = error instanceof FileFault ? error.said : said(error)
      return fail('key file', what, next ?? 'correct it, or remove it where svc made it itself')
    }
  })
}

/** Opens it as a command would; a data folder that does not exist yet is left alone. */
async function database(config: Config): Promise<Check[]> {
  const databaseUrl = config.values['database-url']
  if (databaseUrl === undefined && !hasDatabase(config.dataDir)) return [noDatabase(config)]
  const { openStore } = await import('../src/store/open.ts')
  let store: Awaited<ReturnType<typeof openStore>>
  try {
    store = await openStore({ dataDir: config.dataDir, databaseUrl })
    await store.ping()
  } catch (error) {
    return [
      fail(
        'database',
        said(error),
        databaseUrl === undefined ? 'as said there; another --data-dir starts afresh' : 'check SVC_DATABASE_URL',
      ),
    ]
  }
  try {
    const sick = await sickness(store, config)
    if (sick !== undefined) return [sick]
    const { openVault } = await import('../src/store/vault.ts')
    const { requireInstallation } = await import('../src/store/installation.ts')
    const opened = ok('database', `${store.kind} opens, is whole and takes writes`)
    const keyText = config.values['encryption-key']
    const none = keyText === undefined && !existsSync(join(config.dataDir, ENCRYPTION_KEY_FILE))
    try {
      const place = { store, dataDir: config.dataDir, keyGiven: keyText !== undefined }
      if (none && store.kind === 'sqlite' && (await requireInstallation(place)) === null) {
        return [opened, ok('encryption key', 'made on first use')]
      }
      const { fingerprint } = await openVault({ store, dataDir: config.dataDir, keyText })
      return [opened, ok('encryption key', `fits this database (fingerprint ${fingerprint})`)]
    } catch (error) {
      return [opened, fail('encryption key', said(error), 'bring together what belongs together, as said there')]
    }
  } finally {
    await store.close()
  }
}

/** None is there: it is made, unless keys tell that there was one. */
function noDatabase({ dataDir }: Config): Check {
  const keys = [ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE].filter((name) => existsSync(join(dataDir, name)))
  if (keys.length === 0) return ok('database', 'SQLite, made on first use')
  const named = keys.join(' and ')
  return fail(
    'database',
    `${join(dataDir, DATABASE_FILE)} is missing, and ${named} beside it tell of one`,
    `restore it from a backup, or remove ${named} to begin anew`,
  )
}

/** Every page of a file is read, and something is written that leaves nothing behind. */
async function sickness(store: Store, { dataDir }: Config): Promise<Check | undefined> {
  if (store.kind === 'sqlite') {
    const { checkFile } = await import('../src/store/sqlite.ts')
    const [first, ...more] = (await checkFile(join(dataDir, DATABASE_FILE))) ?? []
    if (first !== undefined) return damaged('database', join(dataDir, DATABASE_FILE), first, more.length)
  }
  const { probeWrite } = await import('../src/store/settings.ts')
  try {
    await store.write(probeWrite)
    return undefined
  } catch (error) {
    const { FAULT_WORDS, databaseFault } = await import('../src/store/faults.ts')
    const fault = databaseFault(error)
    const why = fault === null ? said(error) : FAULT_WORDS[fault]
    return fail('database', `${store.kind} opens, but takes no write: ${why}`, 'make room, or make it writable again')
  }
}

function damaged(check: string, file: string, first: string, more: number): Check {
  const rest = more === 0 ? '' : ` (and ${more} more)`
  return fail(
    check,
    `${file} is damaged: ${first.split('\n').join(' ')}${rest}`,
    'stop the daemon and restore the file from a backup',
  )
}

/** The embedded chain's file, where there is one. */
async function chainFile({ dataDir }: Config): Promise<Check[]> {
  const file = join(dataDir, CHAIN_FILE)
  if (!existsSync(file)) return []
  const { checkFile } = await import('../src/store/sqlite.ts')
  const found = await checkFile(file)
  if (found === null) return [ok('chain file', `${file} is in use; looked at when nobody serves it`)]
  const [first, ...more] = found
  return [first === undefined ? ok('chain file', `${file} is whole`) : damaged('chain file', file, first, more.length)]
}

/** Also where it cannot be told: opening it then says why. */
function hasDatabase(dataDir: string): boolean {
  if (!existsSync(dataDir)) return false
  try {
    return readdirSync(dataDir).some((name) => name !== CHAIN_FILE && /\.(db|sqlite3?)$/.test(name))
  } catch {
    return true
  }
}

async function daemon(config: Config): Promise<Check> {
  let found: ReturnType<typeof runningDaemon>
  try {
    found = runningDaemon(config)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return fail('daemon', error.said, error.next)
  }
  if (found === undefined) {
    const left = existsSync(join(config.dataDir, DAEMON_FILE))
    if (left) {
      const { lockFolder } = await import('../daemon/lock.ts')
      const unlock = await lockFolder(config.dataDir)
      if (unlock === undefined)
        return fail('daemon', 'one runs, but daemon.json does not lead to it', 'stop it and start it again')
      unlock()
    }
    return ok(
      'daemon',
      left ? 'not running (it ended without removing daemon.json)' : 'not running; commands work in process',
    )
  }
  const answer = await probe(found.url, '/v2/health')
  if (answer === 200) return ok('daemon', `pid ${found.pid} at ${found.url}`)
  return fail(
    'daemon',
    `pid ${found.pid} at ${found.url}: ${answer}`,
    `restart it, or remove ${found.file} if that process is something else`,
  )
}

async function api(config: Config, url: string): Promise<Check[]> {
  const health = await probe(url, '/v2/health')
  if (health !== 200) return [fail('api', `${url}: ${health}`, 'check the setting api and the network')]
  let key: string | undefined
  try {
    key = chosenKey(config)
  } catch (error) {
    const next = error instanceof Problem ? error.next : undefined
    return [ok('api', `${url} answers`), fail('api key', said(error), next ?? 'see the check of the key file')]
  }
  if (!key) return [ok('api', `${url} answers`), warn('api key', 'none is given', 'set api-key-file or SVC_API_KEY')]
  const status = await probe(url, '/v2/health/workers', key)
  const taken =
    status === 200
      ? ok('api key', 'accepted')
      : fail('api key', `refused: ${status}`, 'make another with `svc keys create`')
  return [ok('api', `${url} answers`), taken]
}

/** The HTTP status, or what went wrong. */
async function probe(url: string, path: string, key?: string): Promise<number | string> {
  try {
    const http = await openHttp(url, key, PROBE_MS)
    try {
      return (await http.send({ method: 'GET', path, headers: {} })).status
    } finally {
      http.close()
    }
  } catch (error) {
    return said(error)
  }
}

const said = (error: unknown) => (error instanceof ApiError || error instanceof Error ? error.message : String(error))
