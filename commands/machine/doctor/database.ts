/**
 * Checks that the files of a data folder are undamaged: the database with its encryption key, and the embedded chain's
 * file.
 */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/context.ts'
import { loadSqlite, NativeModuleFault } from '../../../src/platform/native-modules.ts'
import { parseUrl } from '../../../src/platform/urls.ts'
import {
  CHAIN_FILE,
  type Config,
  DATABASE_FILE,
  ENCRYPTION_KEY_FILE,
  OPERATOR_KEY_FILE,
} from '../../../src/settings/config.ts'
import type { Vault } from '../../../src/store/installation/vault.ts'
import type { Store } from '../../../src/store/store.ts'
import type { DoctorCheck } from '../../cli/session.ts'
import { counted } from '../../ui/words.ts'
import { errorText, failedCheck, passedCheck, warningCheck } from './checks.ts'

/** Opens the database as a command would; does not create one where none exists. */
export async function databaseChecks(config: Config): Promise<DoctorCheck[]> {
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
    const [first, ...more] = (await checkFile(join(dataDir, DATABASE_FILE))) ?? []
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
export async function chainFileChecks({ dataDir }: Config): Promise<DoctorCheck[]> {
  const file = join(dataDir, CHAIN_FILE)
  if (!existsSync(file)) return []
  const { checkFile } = await import('../../../src/store/sqlite/store.ts')
  const faults = await checkFile(file)
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
