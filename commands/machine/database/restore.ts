/** Restores a backup into the data folder: everything is checked and prepared first, then put in place in one step. */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, readdirSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { systemClock } from '../../../src/context.ts'
import { isLocked } from '../../../src/platform/file-lock.ts'
import { makeDataFolder, makeFolders, openOwnFile, writeAtomically } from '../../../src/platform/files.ts'
import { LOCK_FILES } from '../../../src/platform/folder-lock.ts'
import { type Config, DATABASE_FILE } from '../../../src/settings/config.ts'
import type { Vault } from '../../../src/store/installation/vault.ts'
import { profilesFile } from '../../cli/profiles.ts'
import type { BackupFacts, PartName, RestoreOptions, RestoreReport, StepProgress } from '../../database/installation.ts'
import { failure, Problem, usage } from '../../ui/problem.ts'
import { type Asking, backupPassphrase } from '../passphrases.ts'
import { walletsFolder } from '../wallets/folder.ts'
import { copyAssets, copyKey, requireChain } from './backup.ts'
import { checkBackupFile, readList, sizeOfBackup } from './backup-list.ts'
import { PART_FILES } from './parts.ts'
import { isSealedBackup, type OpenedBackup, openSealed } from './sealed-backup.ts'

interface CheckedBackup {
  facts: BackupFacts
  /** The database's copy. */
  database: string
  /** The folder with the other parts; null for only a database file. */
  folder: string | null
}

/** Throws on PostgreSQL, and if there is no such backup; returns its absolute path. */
function backupPath(config: Config, typed: string): string {
  if (config.values['database-url'] !== undefined) {
    throw usage('the database is PostgreSQL, which restores its own backups', {
      next: 'pg_restore --clean --if-exists --no-owner --dbname="$SVC_DATABASE_URL" FILE; or `svc db import FILE`',
    })
  }
  const path = resolve(typed)
  if (existsSync(path)) return path
  throw new Problem('not_found', `there is no backup ${path}`)
}

/**
 * The passphrase of a sealed backup, from the file or typed; null for a backup that is not sealed. Throws before
 * anything is typed if the backup would replace an installation without `force`.
 */
export async function passphraseFor(
  config: Config,
  typed: string,
  { force, passphraseFile, ui }: { force: boolean; passphraseFile: string | undefined; ui: Asking },
): Promise<string | null> {
  const path = backupPath(config, typed)
  if (!isSealedBackup(path)) {
    if (passphraseFile === undefined) return null
    throw usage(`${path} is not sealed, so it has no passphrase`, { param: '--passphrase-file', next: 'leave it out' })
  }
  refuseReplacing({ replaces: presentFiles(config, []), data_dir: config.dataDir }, force)
  return backupPassphrase(path, passphraseFile, ui)
}

/** Throws for a sealed backup that was cut or changed, and for any other as `checkedBackup` does. */
export async function inspectBackup(config: Config, typed: string, passphrase: string | null): Promise<BackupFacts> {
  const path = backupPath(config, typed)
  if (passphrase === null) return (await checkedBackup(config, path)).facts
  const { list } = await openSealed(path, passphrase)
  const { created_at, schema, fingerprint, parts } = list
  const replaces = presentFiles(config, parts)
  const data_dir = config.dataDir
  const bytes = sizeOfBackup(list)
  return { path, created_at, schema, pending: [], fingerprint, included: parts, bytes, replaces, data_dir }
}

/** Throws for a backup that is incomplete, newer than this program, or without an available key. */
async function checkedBackup(config: Config, path: string): Promise<CheckedBackup> {
  const folder = statSync(path).isDirectory() ? path : null
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
      replaces: presentFiles(config, included),
      data_dir: config.dataDir,
    },
  }
}

/** Restores the backup; replaced files are kept in a folder inside the data folder. */
export async function restoreBackup(
  config: Config,
  typed: string,
  { passphrase, force }: RestoreOptions,
  onProgress: StepProgress,
): Promise<RestoreReport> {
  const { lockFolder } = await import('../../../src/platform/folder-lock.ts')
  const { dataDir } = config
  const path = backupPath(config, typed)
  // A sealed backup is read to its end before the data folder is made.
  const sealed = passphrase === null ? null : await openSealed(path, passphrase)
  makeDataFolder(dataDir)
  const unlock = await lockFolder(dataDir)
  if (unlock === undefined) {
    throw new Problem('conflict', `a daemon runs on ${dataDir}: nothing was restored`, {
      next: 'stop it, then restore again',
    })
  }
  try {
    await removeStaged(dataDir)
    const backup = sealed === null ? await checkedBackup(config, path) : await unsealed(config, path, sealed)
    try {
      refuseReplacing(backup.facts, force)
      if (backup.facts.included.includes('chain') && isLocked(join(dataDir, LOCK_FILES.chain))) {
        throw new Problem('conflict', `a process serves the embedded chain of ${dataDir}`, { next: 'stop it first' })
      }
      return await replaceFiles(dataDir, backup, onProgress)
    } finally {
      if (sealed !== null && backup.folder !== null) rmSync(backup.folder, { recursive: true, force: true })
    }
  } finally {
    unlock()
  }
}

/** Unpacks a sealed backup inside the data folder, whose keys are as readable, and checks what it has. */
async function unsealed(config: Config, path: string, sealed: OpenedBackup): Promise<CheckedBackup> {
  const folder = join(config.dataDir, await stagedName())
  try {
    mkdirSync(folder, { mode: 0o700 })
    await sealed.unpack(folder)
    const checked = await checkedBackup(config, folder)
    return { ...checked, facts: { ...checked.facts, path } }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw writingFault(error, config.dataDir)
  }
}

async function stagedName(): Promise<string> {
  const { STAGED_PREFIX } = await import('../../../src/store/transfer/restore-switch.ts')
  return `${STAGED_PREFIX}${randomBytes(6).toString('hex')}`
}

/** Removes prepared files, also of a killed restore. Because of the lock, no other restore uses them. */
async function removeStaged(dataDir: string): Promise<void> {
  const { STAGED_PREFIX } = await import('../../../src/store/transfer/restore-switch.ts')
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith(STAGED_PREFIX)) rmSync(join(dataDir, name), { recursive: true })
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
  ...(['encryption-key', 'operator-key', 'signer-key', 'chain'] as const)
    .filter((part) => included.includes(part))
    .map((part) => PART_FILES[part]),
]

const presentFiles = ({ dataDir }: Config, included: readonly PartName[]) =>
  restoredFiles(included).filter((name) => existsSync(join(dataDir, name)))

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
    import('../../../src/operations/audit-entries/verbs.ts'),
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

function refuseReplacing({ replaces, data_dir }: Pick<BackupFacts, 'replaces' | 'data_dir'>, force: boolean): void {
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
  const [{ copySqlite }, { switchFiles }] = await Promise.all([
    import('../../../src/store/sqlite/copy.ts'),
    import('../../../src/store/transfer/restore-switch.ts'),
  ])
  const staged = await stagedName()
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
    throw writingFault(error, dataDir)
  }
  const kept = join(dataDir, aside)
  const profiles = facts.included.includes('profiles') && folder !== null ? restoreProfiles(folder, dataDir) : null
  if (folder !== null) left.push(...(profiles?.left ?? []), ...restoreWallets(folder, facts.included))
  return {
    ...facts,
    aside: existsSync(kept) ? kept : null,
    left,
    signer_keypair:
      facts.included.includes('signer-key') && profiles?.signer !== true
        ? join(dataDir, PART_FILES['signer-key'])
        : null,
  }
}

function writingFault(error: unknown, dataDir: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined) return error
  return failure(`the files cannot be put into ${dataDir}: ${code === 'ENOSPC' ? 'the disk is full' : code}`, {
    next: 'nothing was replaced: fix that, then restore again',
    cause: error,
  })
}

/** Adds the assets of the backup; returns a message if some are missing or damaged. */
async function restoreAssets(folder: string, dataDir: string): Promise<string[]> {
  const listed = readList(folder).assets
  if (listed === null || !existsSync(join(folder, PART_FILES.assets))) return []
  const { files } = await copyAssets(join(folder, PART_FILES.assets), join(dataDir, PART_FILES.assets))
  return files >= listed.files ? [] : [`assets: ${listed.files - files} of ${listed.files} are missing or damaged`]
}

/**
 * Profiles belong to the user, so that existing ones are kept. `signer` is whether the settings name the restored key
 * file of the platform wallet.
 */
function restoreProfiles(folder: string, dataDir: string): { left: string[]; signer: boolean } {
  const to = profilesFile()
  const text = readFileSync(join(folder, PART_FILES.profiles), 'utf8')
  const { signer_keypair } = readList(folder)
  const moved = signer_keypair === undefined ? text : withSignerAt(text, signer_keypair, dataDir)
  const isSame = existsSync(to) && readFileSync(to, 'utf8') === moved
  if (existsSync(to) && !isSame) {
    return { left: [`${PART_FILES.profiles}: ${to} already exists; compare them`], signer: false }
  }
  makeFolders(dirname(to))
  if (!isSame) writeAtomically(to, moved)
  return { left: [], signer: moved !== text }
}

/** The profiles with the restored key file instead of the one that was backed up. */
function withSignerAt(text: string, before: string, dataDir: string): string {
  const now = join(dataDir, PART_FILES['signer-key'])
  const moved = JSON.parse(text, (name, value) =>
    name === 'signer.keypair' && typeof value === 'string' && resolve(value) === before ? now : value,
  )
  return JSON.stringify(moved) === JSON.stringify(JSON.parse(text)) ? text : JSON.stringify(moved, null, 2)
}

/** Existing wallets are kept; returns a message for each that has other content. */
function restoreWallets(folder: string, included: readonly PartName[]): string[] {
  if (!included.includes('wallets')) return []
  const from = join(folder, PART_FILES.wallets)
  makeFolders(walletsFolder())
  return readdirSync(from).flatMap((name) => {
    const to = join(walletsFolder(), name)
    if (!existsSync(to)) copyKey(join(from, name), to)
    else if (!readFileSync(to).equals(readFileSync(join(from, name))))
      return [`wallets: ${to} already exists, and differs`]
    return []
  })
}
