/** Runs the checks of `svc doctor`; each is independent, so that one fault does not hide the next. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/context.ts'
import { FileFault, requireDataFolder } from '../../../src/platform/files.ts'
import { loadSqlite, NativeModuleFault } from '../../../src/platform/native-modules.ts'
import { outgoingProxy, useOutgoingProxy } from '../../../src/platform/outgoing-proxy.ts'
import { parseUrl } from '../../../src/platform/urls.ts'
import {
  CHAIN_FILE,
  type Config,
  DAEMON_FILE,
  DATABASE_FILE,
  ENCRYPTION_KEY_FILE,
  OPERATOR_KEY_FILE,
} from '../../../src/settings/config.ts'
import { redactorOf } from '../../../src/settings/redaction.ts'
import type { Vault } from '../../../src/store/installation/vault.ts'
import type { Store } from '../../../src/store/store.ts'
import { chosenKey, configuredKey, readApiKeyFile, runningDaemon } from '../../cli/connection.ts'
import { unreadVariables, variableRemedy } from '../../cli/environment-names.ts'
import { openHttp } from '../../cli/http-transport.ts'
import type { DoctorCheck } from '../../cli/session.ts'
import { terminal } from '../../cli/terminal.ts'
import { Problem } from '../../ui/problem.ts'
import { counted } from '../../ui/words.ts'
import { isDeviceUrl } from '../../wallet/names.ts'
import { errorText, failedCheck, passedCheck, warningCheck } from './checks.ts'

// Checks that the files of a data folder are undamaged: the database with its encryption key, and the embedded
// chain's file.

/** Opens the database as a command would; does not create one where none exists. */
async function databaseChecks(config: Config): Promise<DoctorCheck[]> {
  const databaseUrl = config.values['database-url']
  if (databaseUrl === undefined && !hasDatabase(config.dataDir)) return [noDatabase(config)]
  const { openStore, storeOptions } = await import('../../../src/store/open.ts')
  let store: Awaited<ReturnType<typeof openStore>>
  try {
    store = await openStore(storeOptions(config))
    await store.ping()
  } catch (error) {
    return [
      failedCheck(
        'database',
        errorText(error),
        databaseUrl === undefined
          ? 'do what it says; another --data-dir starts with an empty database'
          : 'do what it says',
      ),
    ]
  }
  try {
    const fault = await storeFaultCheck(store, config)
    if (fault !== undefined) return [fault]
    const tls = await tlsChecks(store, databaseUrl)
    const { openVault } = await import('../../../src/store/installation/vault.ts')
    const { requireInstallation } = await import('../../../src/store/installation/installation.ts')
    const opened = passedCheck('database', `${store.kind} opens, is intact and accepts writes`)
    const keyText = config.values['encryption-key']
    const hasNoKey = keyText === undefined && !existsSync(join(config.dataDir, ENCRYPTION_KEY_FILE))
    try {
      const place = { store, dataDir: config.dataDir, keyFromEnvironment: keyText !== undefined }
      if (hasNoKey && store.kind === 'sqlite' && (await requireInstallation(place)) === null) {
        return [opened, passedCheck('encryption key', 'made on first use')]
      }
      const vault = await openVault({ store, dataDir: config.dataDir, keyText })
      const fits = passedCheck('encryption key', `fits this database (fingerprint ${vault.fingerprint})`)
      return [opened, ...tls, fits, await auditCheck(store, vault)]
    } catch (error) {
      return [
        opened,
        ...tls,
        failedCheck('encryption key', errorText(error), 'use the database and the key that belong together'),
      ]
    }
  } finally {
    await store.close()
  }
}

/** Verifies the audit log, and that keys, policies, sponsorships and schedules match it. */
async function auditCheck(store: Store, vault: Vault): Promise<DoctorCheck> {
  const { verifyAuditEntries } = await import('../../../src/operations/audit-entries/verbs.ts')
  const { entries, broken } = await verifyAuditEntries({ store, vault, clock: systemClock }, {})
  if (broken === null)
    return passedCheck('audit log', `${counted(entries, 'entry', 'entries')} intact, as in the database`)
  return failedCheck(
    'audit log',
    `something other than svc changed the database: ${broken.why} (entry ${broken.sequence})`,
    'undo that, revoke a key that is not yours (`svc keys delete ID`), or restore a backup',
  )
}

/** Whether the connection to PostgreSQL is encrypted; on this machine it need not be. */
async function tlsChecks({ kind, db }: Store, url = ''): Promise<DoctorCheck[]> {
  if (kind === 'sqlite') return []
  const { tlsVersion } = await import('../../../src/store/postgres/tls-version.ts')
  const version = await tlsVersion(db)
  if (version !== null) return [passedCheck('database tls', version)]
  const host = parseUrl(url)?.hostname ?? ''
  const isHere = ['', 'localhost', '[::1]'].includes(host) || /^127\.|^%2f/i.test(host)
  return isHere
    ? [passedCheck('database tls', 'none; the database is on this machine')]
    : [warningCheck('database tls', `none: anyone on the network path to ${host} can read it`, 'set postgres.sslmode')]
}

/** Why SQLite's module cannot be loaded; the first use would fail the same way. */
function moduleFault(): DoctorCheck | undefined {
  try {
    loadSqlite()
    return undefined
  } catch (error) {
    if (!(error instanceof NativeModuleFault)) throw error
    return failedCheck('database', error.problem, error.next)
  }
}

/** A missing database is made on first use, but keys without one mean that an earlier database was lost. */
function noDatabase({ dataDir }: Config): DoctorCheck {
  const keys = [ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE].filter((name) => existsSync(join(dataDir, name)))
  if (keys.length === 0) return moduleFault() ?? passedCheck('database', 'SQLite, made on first use')
  const named = keys.join(' and ')
  return failedCheck(
    'database',
    `${join(dataDir, DATABASE_FILE)} is missing, although keys of an earlier one are there: ${named}`,
    `restore it from a backup, or remove ${named} to start again`,
  )
}

/** Reads every page of a SQLite file and makes a write that changes nothing; returns the failed check, if any. */
async function storeFaultCheck(store: Store, { dataDir }: Config): Promise<DoctorCheck | undefined> {
  if (store.kind === 'sqlite') {
    const { checkFile } = await import('../../../src/store/sqlite/store.ts')
    const [first, ...more] = (await checkFile(join(dataDir, DATABASE_FILE), FILE_LOCK_MS)) ?? []
    if (first !== undefined) return damaged('database', join(dataDir, DATABASE_FILE), first, more.length)
  }
  const { probeWrite } = await import('../../../src/store/settings.ts')
  try {
    await store.write(probeWrite)
    return undefined
  } catch (error) {
    const { FAULT_MESSAGES, databaseFault } = await import('../../../src/store/faults.ts')
    const fault = databaseFault(error)
    const why = fault === null ? errorText(error) : FAULT_MESSAGES[fault]
    return failedCheck(
      'database',
      `${store.kind} opens, but refuses writes: ${why}`,
      'free disk space, or make it writable again',
    )
  }
}

function damaged(check: string, file: string, first: string, more: number): DoctorCheck {
  const rest = more === 0 ? '' : ` (and ${more} more)`
  return failedCheck(
    check,
    `${file} is damaged: ${first.split('\n').join(' ')}${rest}`,
    'stop the daemon and restore the file from a backup',
  )
}

/** Checks the embedded chain's file, if there is one. */
async function chainFileChecks({ dataDir }: Config): Promise<DoctorCheck[]> {
  const file = join(dataDir, CHAIN_FILE)
  if (!existsSync(file)) return []
  const { checkFile } = await import('../../../src/store/sqlite/store.ts')
  // Whoever serves the chain holds the lock all the time: waiting for it would find nothing.
  const faults = await checkFile(file, 0)
  if (faults === null) return [passedCheck('chain file', `${file} is in use; it is checked when no process serves it`)]
  const [first, ...more] = faults
  return [
    first === undefined
      ? passedCheck('chain file', `${file} is whole`)
      : damaged('chain file', file, first, more.length),
  ]
}

/** Also true for an unreadable folder, because opening the database then reports the cause. */
function hasDatabase(dataDir: string): boolean {
  if (!existsSync(dataDir)) return false
  try {
    return readdirSync(dataDir).some((name) => name !== CHAIN_FILE && /\.(db|sqlite3?)$/.test(name))
  } catch {
    return true
  }
}

const NODE = [20, 19] as const
const API_PROBE_MS = 5_000
/** How long another process may hold the lock of the database. */
const FILE_LOCK_MS = 5_000

/** Runs every check that the configuration allows; creates nothing. */
export async function diagnose(load: () => Promise<Config>): Promise<DoctorCheck[]> {
  const checks = [nodeVersion(), ...(await variableChecks())]
  let config: Config
  try {
    config = await load()
  } catch (error) {
    return [
      ...checks,
      failedCheck('configuration', (error as Error).message, 'correct that setting, then run this again'),
    ]
  }
  checks.push(passedCheck('configuration', 'every setting can be read'), ...secretFileChecks(config))
  await useOutgoingProxy(process.env)
  const proxy = outgoingProxy(process.env)
  if (proxy !== null)
    checks.push(
      passedCheck('proxy', `requests to nodes and providers go through ${proxy.variables[0]}; webhooks never do`),
    )
  checks.push(dataFolder(config), ...keyFiles(config), ...(await ledgerChecks(config)))
  checks.push(...(await databaseChecks(config)), ...(await chainFileChecks(config)), await daemon(config))
  if (config.values.api !== undefined) checks.push(...(await apiChecks(config, config.values.api)))
  const { chainChecks } = await import('./chain.ts')
  checks.push(...(await chainChecks(config)))
  const { text } = redactorOf(config)
  return checks.map((check) => ({ ...check, detail: text(check.detail) }))
}

/** Files of `SVC_…_FILE` variables, which were read with the configuration. */
const secretFileChecks = ({ secretFiles }: Config): DoctorCheck[] =>
  Object.entries(secretFiles).map(([name, file]) => passedCheck('secret file', `${name} from ${file}`))

/** Variables that nothing reads; a person may have meant others. */
async function variableChecks(): Promise<DoctorCheck[]> {
  const unread = await unreadVariables(terminal().env, true)
  return unread.map((variable) => warningCheck('environment', `${variable.name} is not read`, variableRemedy(variable)))
}

function nodeVersion(): DoctorCheck {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const enough = major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
  return enough
    ? passedCheck('node', process.versions.node)
    : failedCheck('node', process.versions.node, `install Node.js ${NODE.join('.')} or later`)
}

function dataFolder({ dataDir }: Config): DoctorCheck {
  if (!existsSync(dataDir)) return passedCheck('data folder', `${dataDir} (made on first use)`)
  const stats = statSync(dataDir)
  if (!stats.isDirectory())
    return failedCheck('data folder', `${dataDir} is not a folder`, 'choose another with --data-dir')
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return failedCheck(
      'data folder',
      `${dataDir} cannot be written`,
      `chown it to this user, or choose another with --data-dir`,
    )
  }
  try {
    requireDataFolder(dataDir)
  } catch (error) {
    const { problem: what, next } = error as FileFault
    return failedCheck('data folder', what, next)
  }
  if ((stats.mode & 0o077) !== 0)
    return warningCheck('data folder', `${dataDir} can be read by others`, `chmod 700 ${dataDir}`)
  return passedCheck('data folder', dataDir)
}

function keyFiles(config: Config): DoctorCheck[] {
  const local = [OPERATOR_KEY_FILE, ENCRYPTION_KEY_FILE]
    .map((name) => join(config.dataDir, name))
    .filter((file) => existsSync(file))
    .map((file) => ({ file, read: () => readApiKeyFile(file) }))
  const file = config.values['api-key-file']
  const chosen = file === undefined ? [] : [{ file, read: () => configuredKey(config) }]
  return [...local, ...chosen].map(({ file, read }) => {
    try {
      read()
      return passedCheck('key file', file)
    } catch (error) {
      const next = error instanceof FileFault || error instanceof Problem ? error.next : undefined
      const what = error instanceof FileFault ? error.problem : errorText(error)
      return failedCheck('key file', what, next ?? 'correct it, or remove it if svc made it')
    }
  })
}

async function daemon(config: Config): Promise<DoctorCheck> {
  let running: ReturnType<typeof runningDaemon>
  try {
    running = runningDaemon(config)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return failedCheck('daemon', error.problem, error.next)
  }
  if (running === undefined) {
    const hasLeftover = existsSync(join(config.dataDir, DAEMON_FILE))
    if (hasLeftover) {
      const { lockFolder } = await import('../../../src/platform/folder-lock.ts')
      const unlock = await lockFolder(config.dataDir)
      if (unlock === undefined)
        return failedCheck('daemon', 'one is running, but daemon.json does not name it', 'stop it and start it again')
      unlock()
    }
    return passedCheck(
      'daemon',
      hasLeftover ? 'not running (it ended without removing daemon.json)' : 'not running; commands work on their own',
    )
  }
  const answer = await probe(running.url, '/v2/health')
  const role = running.role === undefined ? '' : `, role ${running.role}`
  if (answer === 200) return passedCheck('daemon', `pid ${running.pid} at ${running.url}${role}`)
  return failedCheck(
    'daemon',
    `pid ${running.pid} at ${running.url}: ${answer}`,
    `restart it, or remove ${running.file} if that process is something else`,
  )
}

async function apiChecks(config: Config, url: string): Promise<DoctorCheck[]> {
  const health = await probe(url, '/v2/health')
  if (health !== 200) return [failedCheck('api', `${url}: ${health}`, 'check the setting api and the network')]
  let key: string | undefined
  try {
    key = chosenKey(config)
  } catch (error) {
    const next = error instanceof Problem ? error.next : undefined
    return [
      passedCheck('api', `${url} answers`),
      failedCheck('api key', errorText(error), next ?? 'see the check of the key file'),
    ]
  }
  if (!key)
    return [
      passedCheck('api', `${url} answers`),
      warningCheck(
        'api key',
        'none is given',
        `set api-key-file or SVC_API_KEY${config.emptyVariables.includes('SVC_API_KEY') ? ', which is empty' : ''}`,
      ),
    ]
  const status = await probe(url, '/v2/health/workers', key)
  const keyCheck =
    status === 200
      ? passedCheck('api key', 'accepted')
      : failedCheck('api key', `refused: ${status}`, 'make another with `svc keys create`')
  return [passedCheck('api', `${url} answers`), keyCheck]
}

/** The HTTP status of the answer, or the text of the error. */
async function probe(url: string, path: string, key?: string): Promise<number | string> {
  try {
    const http = await openHttp(url, key, API_PROBE_MS)
    try {
      return (await http.send({ method: 'GET', path, headers: {} })).status
    } finally {
      http.close()
    }
  } catch (error) {
    return errorText(error)
  }
}

// Checks the Ledger that the setting `keypair` names: its packages, its state, and the address of its key.

const CHECK = 'ledger'

/** One check if the setting names a Ledger. One that is not ready is a warning, because only signing needs it. */
async function ledgerChecks({ values: { keypair } }: Config): Promise<DoctorCheck[]> {
  if (keypair === undefined || !isDeviceUrl(keypair)) return []
  const { ledgerSigner } = await import('../wallets/ledger/signer.ts')
  try {
    const { address } = await ledgerSigner(keypair, () => undefined)
    return [passedCheck(CHECK, `${keypair} has the address ${address}`)]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const check = error.code === 'bad_request' ? failedCheck : warningCheck
    return [check(CHECK, error.message, error.next ?? 'run this again')]
  }
}
