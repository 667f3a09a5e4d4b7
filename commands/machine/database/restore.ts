/** Restores a backup into the data folder: everything is checked and prepared first, then put in place in one step. */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { systemClock } from '../../../src/context.ts'
import { isLocked } from '../../../src/platform/file-lock.ts'
import { makeDataFolder, makeFolders, openOwnFile, writeAtomically } from '../../../src/platform/files.ts'
import { LOCK_FILES } from '../../../src/platform/folder-lock.ts'
import { type Config, DATABASE_FILE } from '../../../src/settings/config.ts'
import type { Vault } from '../../../src/store/installation/vault.ts'
import { profilesFile } from '../../cli/profiles.ts'
import type { BackupFacts, PartName, RestoreReport, StepProgress } from '../../database/installation.ts'
import { failure, Problem, usage } from '../../ui/problem.ts'
import { copyAssets, copyKey, requireChain } from './backup.ts'
import { checkBackupFile, readList, sizeOfBackup } from './backup-list.ts'
import { PART_FILES } from './parts.ts'

interface CheckedBackup {
  facts: BackupFacts
  /** The database's copy. */
  database: string
  /** The folder with the other parts; null for only a database file. */
  folder: string | null
}

/** Throws for a backup that is incomplete, newer than this program, or without an available key. */
export async function inspectBackup(config: Config, typed: string): Promise<CheckedBackup> {
  if (config.values['database-url'] !== undefined) {
    throw usage('the database is PostgreSQL, which restores its own backups', {
      next: 'pg_restore --clean --if-exists --no-owner --dbname="$SVC_DATABASE_URL" FILE; or `svc db import FILE`',
    })
  }
  const path = resolve(typed)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new Problem('not_found', `there is no backup ${path}`)
  const folder = stats.isDirectory() ? path : null
  const list = folder === null ? null : readList(folder)
  if (folder !== null) for (const file of list?.files ?? []) await checkBackupFile(folder, file)
  const database = folder === null ? path : join(folder, DATABASE_FILE)
  refuseExport(database)
  const { factsOfSqlite } = await import('../../../src/store/sqlite/copy.ts')
  const { damage, additions, applied, pending, fingerprint } = await factsOfSqlite(database)
  if (damage.length > 0) throw failure(`${database} is damaged: ${damage[0]}`, { next: ANOTHER })
  if (additions.length > 0) throw changed(database, additions[0])
  const included = list?.parts ?? []
  if (folder !== null && included.includes('chain')) requireChain(join(folder, PART_FILES.chain))
  const vault = await restoreVault(config, { path, folder, included, fingerprint })
  // The audit log of an earlier schema is compared at the first start, after the migrations.
  if (vault !== null && pending.length === 0) await requireAudited(database, vault)
  const bytes = list === null ? statSync(database).size : sizeOfBackup(list)
  return {
    database,
    folder,
    facts: {
      path,
      created_at: list?.created_at ?? null,
      schema: applied.at(-1) ?? '',
      pending,
      fingerprint,
      included,
      bytes,
      replaces: restoredFiles(included).filter((name) => existsSync(join(config.dataDir, name))),
      data_dir: config.dataDir,
    },
  }
}

/** Restores the backup; replaced files are kept in a folder inside the data folder. */
export async function restoreBackup(
  config: Config,
  path: string,
  force: boolean,
  onProgress: StepProgress,
): Promise<RestoreReport> {
  const { lockFolder } = await import('../../../src/platform/folder-lock.ts')
  const { dataDir } = config
  makeDataFolder(dataDir)
  const unlock = await lockFolder(dataDir)
  if (unlock === undefined) {
    throw new Problem('conflict', `a daemon runs on ${dataDir}: nothing was restored`, {
      next: 'stop it, then restore again',
    })
  }
  try {
    const backup = await inspectBackup(config, path)
    refuseReplacing(backup.facts, force)
    if (backup.facts.included.includes('chain') && isLocked(join(dataDir, LOCK_FILES.chain))) {
      throw new Problem('conflict', `a process serves the embedded chain of ${dataDir}`, { next: 'stop it first' })
    }
    return await replaceFiles(dataDir, backup, onProgress)
  } finally {
    unlock()
  }
}

/** Throws FileFault for a file of another user or one that others can write, and a usage problem for an export. */
function refuseExport(file: string): void {
  const descriptor = openOwnFile(file)
  try {
    const start = Buffer.alloc(EXPORT_START.length)
    readSync(descriptor, start, 0, start.length, 0)
    if (start.toString() === EXPORT_START) throw usage(`${file} is an export`, { next: `svc db import ${file}` })
  } finally {
    closeSync(descriptor)
  }
}

const EXPORT_START = '{"svc_export"'

/** Names of the data folder's files that a restore replaces; assets are added to existing ones. */
const restoredFiles = (included: readonly PartName[]): string[] => [
  DATABASE_FILE,
  ...(['encryption-key', 'operator-key', 'chain'] as const)
    .filter((part) => included.includes(part))
    .map((part) => PART_FILES[part]),
]

interface KeyPlace {
  path: string
  folder: string | null
  included: readonly PartName[]
  fingerprint: string | null
}

/** Throws unless the audit log is intact, and keys, policies, sponsorships and schedules match it. */
async function requireAudited(database: string, vault: Vault): Promise<void> {
  const [{ withWholeSqlite }, { auditVerdict }] = await Promise.all([
    import('../../../src/store/sqlite/whole.ts'),
    import('../../../src/operations/audit-entries/verify-audit-entries.ts'),
  ])
  const { broken } = await withWholeSqlite(database, 'read', ({ tx }) =>
    auditVerdict(tx, { vault, clock: systemClock }),
  )
  if (broken !== null) throw changed(database, `${broken.why} (entry ${broken.sequence} of the audit log)`)
}

const changed = (database: string, what: string | undefined) =>
  failure(`something other than svc changed ${database}: ${what}`, { next: ANOTHER })
const ANOTHER = 'use another backup; nothing was changed here'

/** The key that the restored installation will use; throws unless the database was encrypted with it. */
async function restoreVault(config: Config, { path, folder, included, fingerprint }: KeyPlace): Promise<Vault | null> {
  if (fingerprint === null) return null
  const { configuredVault, vaultOfFile } = await import('../../../src/store/installation/vault.ts')
  const keyText = config.values['encryption-key']
  const hasKey = folder !== null && included.includes('encryption-key') && keyText === undefined
  const vault = hasKey
    ? vaultOfFile(join(folder, PART_FILES['encryption-key']))
    : configuredVault(config.dataDir, keyText)
  if (vault?.fingerprint === fingerprint) return vault
  const own = vault?.fingerprint ?? null
  const holder = keyText === undefined ? join(config.dataDir, PART_FILES['encryption-key']) : 'SVC_ENCRYPTION_KEY'
  const what = hasKey
    ? `the backup's own encryption.key has fingerprint ${own}`
    : own === null
      ? `the backup has no key, and there is no ${holder}`
      : `${holder} has fingerprint ${own}`
  throw failure(`${path} was sealed with the encryption key of fingerprint ${fingerprint}, and ${what}`, {
    next: `put that installation's encryption.key into ${config.dataDir}, or set SVC_ENCRYPTION_KEY; nothing was changed`,
  })
}

function refuseReplacing({ replaces, data_dir }: BackupFacts, force: boolean): void {
  if (replaces.length === 0 || force) return
  throw new Problem(
    'conflict',
    `${data_dir} already has an installation (${replaces.join(', ')}): nothing was restored`,
    {
      next: 'replace it with --force, which keeps the old files, or choose another --data-dir',
    },
  )
}

async function replaceFiles(
  dataDir: string,
  { facts, database, folder }: CheckedBackup,
  onProgress: StepProgress,
): Promise<RestoreReport> {
  const [{ copySqlite }, { STAGED_PREFIX, switchFiles }] = await Promise.all([
    import('../../../src/store/sqlite/copy.ts'),
    import('../../../src/store/transfer/restore-switch.ts'),
  ])
  // A killed restore may have left prepared files. Because of the lock, no other restore uses them.
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(STAGED_PREFIX)) rmSync(join(dataDir, name), { recursive: true })
  }
  const staged = `${STAGED_PREFIX}${randomBytes(6).toString('hex')}`
  const aside = `before-restore-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`
  const files = restoredFiles(facts.included)
  const left: string[] = []
  try {
    mkdirSync(join(dataDir, staged), { mode: 0o700 })
    await copySqlite(database, join(dataDir, staged, DATABASE_FILE), onProgress)
    for (const name of files) {
      if (name === DATABASE_FILE || folder === null) continue
      if (name === PART_FILES.chain) await copySqlite(join(folder, name), join(dataDir, staged, name))
      else copyKey(join(folder, name), join(dataDir, staged, name))
    }
    // Assets are named by their content, so extra ones do no harm even if the restore ends here.
    if (folder !== null) left.push(...(await restoreAssets(folder, dataDir)))
    await switchFiles(dataDir, { staged, aside, files })
  } catch (error) {
    rmSync(join(dataDir, staged), { recursive: true, force: true })
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw failure(`the files cannot be put into ${dataDir}: ${code === 'ENOSPC' ? 'the disk is full' : code}`, {
      next: 'nothing was replaced: fix that, then restore again',
      cause: error,
    })
  }
  const kept = join(dataDir, aside)
  if (facts.included.includes('profiles') && folder !== null) left.push(...restoreProfiles(folder))
  return { ...facts, aside: existsSync(kept) ? kept : null, left }
}

/** Adds the assets of the backup; returns a message if some are missing or damaged. */
async function restoreAssets(folder: string, dataDir: string): Promise<string[]> {
  const listed = readList(folder).assets
  if (listed === null || !existsSync(join(folder, PART_FILES.assets))) return []
  const { files } = await copyAssets(join(folder, PART_FILES.assets), join(dataDir, PART_FILES.assets))
  return files >= listed.files ? [] : [`assets: ${listed.files - files} of ${listed.files} are missing or damaged`]
}

/** Profiles belong to the user, so that existing ones are kept. */
function restoreProfiles(folder: string): string[] {
  const [from, to] = [join(folder, PART_FILES.profiles), profilesFile()]
  if (existsSync(to)) return [`${basename(from)}: ${to} already exists; compare them`]
  makeFolders(dirname(to))
  writeAtomically(to, readFileSync(from))
  return []
}
