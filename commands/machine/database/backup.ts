/**
 * Writes a backup of a SQLite installation: a folder with one file for each part and a list of them, or such a folder
 * sealed in one file.
 */
import { closeSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { moveIfThere, openOwnFile, writeAtomically } from '../../../src/platform/files.ts'
import { lockFolder } from '../../../src/platform/folder-lock.ts'
import { loadSqlite } from '../../../src/platform/native-modules.ts'
import { VERSION } from '../../../src/platform/version.ts'
import { type Config, DATABASE_FILE } from '../../../src/settings/config.ts'
import { errorLine, redactorOf } from '../../../src/settings/redaction.ts'
import type { BackupReport, BackupRequest, InstallationPart, StepProgress } from '../../database/installation.ts'
import { failure, Problem, usage } from '../../ui/problem.ts'
import { type Asking, newBackupPassphrase } from '../passphrases.ts'
import { fileOfWallet, walletNames } from '../wallets/folder.ts'
import { BACKUP_FORMAT, BACKUP_LIST, type BackupFile, type BackupList, hashFile, sizeOfBackup } from './backup-list.ts'
import { installationParts, PART_FILES } from './parts.ts'
import { isSealedBackup, sealFolder } from './sealed-backup.ts'

const BACKUP_STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** The folder in the data folder in which a sealed backup is prepared: it has the keys in clear, as the data folder has. */
const UNSEALED_FOLDER = 'backup.partial'

interface BackupOptions {
  ui: Asking
  onProgress: StepProgress
}

/** Makes a backup, and records in the database how it has ended. */
export async function recordedBackUp(
  config: Config,
  request: BackupRequest,
  options: BackupOptions,
): Promise<BackupReport> {
  const report = await recordingFailure(config, () => backUp(config, request, options))
  await recordEnd(config, null)
  return report
}

/** Records what is thrown as a backup that failed. */
export async function recordingFailure<T>(config: Config, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await recordEnd(config, errorLine(error, redactorOf(config)))
    throw error
  }
}

/** The backup counts, whether the database takes the record or not. One of another schema is left as it is. */
async function recordEnd(config: Config, error: string | null): Promise<void> {
  const { openStore, storeOptions } = await import('../../../src/store/open.ts')
  const { reportMigrations } = await import('../../../src/store/installation/report.ts')
  const { recordBackup } = await import('../../../src/store/installation/backup-record.ts')
  try {
    const { pending, faults } = await reportMigrations(storeOptions(config))
    if (pending.length + faults.length > 0) return
    const store = await openStore(storeOptions(config))
    await store.write((tx) => recordBackup(tx, { at: Date.now(), error })).finally(() => store.close())
  } catch {
    return
  }
}

/** Copies the installation, also while a daemon uses it. The backup appears once everything in it is on disk. */
export async function backUp(
  config: Config,
  request: BackupRequest,
  { ui, onProgress }: BackupOptions,
): Promise<BackupReport> {
  const target = resolve(request.file)
  const parts = requestedParts(installationParts(config), request)
  requireRoom(config, request)
  const passphrase = request.seal === null ? null : await newBackupPassphrase(request.seal.passphraseFile, ui)
  const unlock = passphrase === null ? () => {} : await lockBackups(config)
  const draft = passphrase === null ? partialOf(target) : join(config.dataDir, UNSEALED_FOLDER)
  const removeDrafts = () => {
    for (const path of [draft, partialOf(target)]) rmSync(path, { recursive: true, force: true })
  }
  // On Ctrl-C, the partial copy is removed, because it may contain the encryption key.
  const stopped = (_: NodeJS.Signals, number: number) => {
    removeDrafts()
    process.exit(128 + number)
  }
  for (const signal of BACKUP_STOPS) process.once(signal, stopped)
  try {
    removeDrafts()
    mkdirSync(draft, { mode: 0o700 })
    const list = await fillBackup(config, draft, parts, onProgress)
    if (passphrase !== null) await sealFolder(draft, partialOf(target), { passphrase, onProgress })
    replaceBackup(target, partialOf(target))
    return {
      path: target,
      sealed: passphrase !== null,
      included: list.parts,
      files: list.files.length + (list.assets?.files ?? 0),
      bytes: sizeOfBackup(list),
      fingerprint: list.fingerprint,
      schema: list.schema,
    }
  } catch (error) {
    throw writeFault(error, target)
  } finally {
    removeDrafts()
    for (const signal of BACKUP_STOPS) process.removeListener(signal, stopped)
    unlock()
  }
}

const partialOf = (target: string) => `${target}.partial`

/** Two backups of one data folder would prepare their files in the same place. */
async function lockBackups({ dataDir }: Config): Promise<() => void> {
  const unlock = await lockFolder(dataDir, 'backup')
  if (unlock !== undefined) return unlock
  throw new Problem('conflict', `another sealed backup of ${dataDir} is being made`, {
    next: 'try again when it is done',
  })
}

/**
 * A requested key must exist. Other parts are created on use, and are left out while missing. Only a sealed backup
 * copies the platform wallet's key, and a key that is the value of a setting.
 */
function requestedParts(
  parts: readonly InstallationPart[],
  { include, seal }: Pick<BackupRequest, 'include' | 'seal'>,
): InstallationPart[] {
  const chosen = parts.filter(({ name }) => include.includes(name))
  if (seal === null && include.includes('signer-key')) {
    throw usage("the platform wallet's key is copied only into a sealed backup", {
      param: '--include',
      next: 'seal the backup with --passphrase-file FILE, or copy the file of signer.keypair yourself',
    })
  }
  const isThere = ({ path, isSetting }: InstallationPart) => path !== null || (seal !== null && isSetting)
  const missing = chosen.find((part) => !isThere(part) && part.elsewhere === null && part.name.endsWith('-key'))
  if (missing !== undefined) {
    const next = missing.isSetting
      ? 'it is in SVC_ENCRYPTION_KEY: seal the backup with --passphrase-file FILE, or store that in another place'
      : 'leave it out'
    throw usage(`this installation has no ${PART_FILES[missing.name]} to include`, { param: '--include', next })
  }
  const outside = chosen.find((part) => !isThere(part) && part.elsewhere !== null)
  if (outside?.elsewhere)
    throw usage(`this backup cannot include ${outside.name}`, { param: '--include', next: outside.elsewhere })
  return chosen.filter(isThere)
}

/** Throws if there is nothing to back up, or something that may not be replaced stands in the place of the backup. */
export function requireRoom({ dataDir }: Config, { file, force }: Pick<BackupRequest, 'file' | 'force'>): void {
  const target = resolve(file)
  refuseOverwriting(target, force)
  if (!existsSync(join(dataDir, DATABASE_FILE))) {
    throw new Problem('not_found', `there is no database in ${dataDir}`, { next: 'name it with --data-dir' })
  }
  for (const stale of [partialOf(target), replacedFolder(target)]) refuseStrangers(stale)
}

function refuseOverwriting(target: string, force: boolean): void {
  if (!existsSync(target)) {
    if (existsSync(dirname(target))) return
    throw usage(`${dirname(target)} does not exist`, { next: 'make it, or choose another folder' })
  }
  if (!existsSync(join(target, BACKUP_LIST)) && !isSealedBackup(target)) {
    throw usage(`${target} already exists, and is not a backup: nothing was written`, { next: 'choose another name' })
  }
  if (!force) throw usage(`${target} already exists: replace that backup with --force`, { param: '--force' })
  refuseStrangers(target)
}

/** Throws if a file or folder that is about to be removed contains something that no backup has. */
function refuseStrangers(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || (stats.isFile() && (stats.size === 0 || isSealedBackup(path)))) return
  const next = 'move that away, or choose another name'
  if (!stats.isDirectory()) throw usage(`${path} exists, and is not part of a backup: nothing was written`, { next })
  const stranger = readdirSync(path).find((name) => !isOfBackup(name))
  if (stranger === undefined) return
  throw usage(`${path} contains ${stranger}, which is not part of a backup: nothing was written`, { next })
}

const BACKUP_NAMES = [BACKUP_LIST, DATABASE_FILE, ...Object.values(PART_FILES)]
/** A file of a backup, or SQLite's files and drafts beside it. */
const isOfBackup = (name: string) =>
  BACKUP_NAMES.some((own) => name === own || (name.startsWith(own) && /^[-.]/.test(name.slice(own.length))))

/**
 * The database is copied first: what it refers to was written before it, so later copies of the other parts contain
 * it.
 */
async function fillBackup(
  config: Config,
  draft: string,
  parts: readonly InstallationPart[],
  onProgress: StepProgress,
): Promise<BackupList> {
  const { copySqlite, factsOfSqlite } = await import('../../../src/store/sqlite/copy.ts')
  const database = join(config.dataDir, DATABASE_FILE)
  const copy = join(draft, DATABASE_FILE)
  await copySqlite(database, copy, onProgress)
  const { damage, applied, fingerprint } = await factsOfSqlite(copy)
  if (damage.length > 0) {
    throw failure(`${database} is damaged, and its backup would be too: ${damage[0]}`, {
      next: 'keep the files, and restore an earlier backup',
    })
  }
  let assets: BackupList['assets'] = null
  for (const { name, path } of parts) {
    const target = join(draft, PART_FILES[name])
    if (path === null) writeAtomically(target, `${config.values['encryption-key']}\n`)
    else if (name === 'assets') assets = await copyAssets(path, target)
    else if (name === 'chain') await copyChain(config, path, target)
    else if (name === 'profiles') copyInto(path, target)
    else if (name === 'wallets') copyWallets(target)
    else copyKey(path, target)
    if (name === 'encryption-key') await requireCopiedKey(target, fingerprint)
  }
  const files: BackupFile[] = []
  for (const name of readdirSync(draft, { recursive: true, encoding: 'utf8' }))
    if (!isBelowAssets(name) && statSync(join(draft, name)).isFile()) files.push(await describeFile(draft, name))
  const signer = parts.find(({ name }) => name === 'signer-key')
  const list: BackupList = {
    svc_backup: BACKUP_FORMAT,
    version: VERSION,
    created_at: new Date().toISOString(),
    schema: applied.at(-1) ?? '',
    fingerprint,
    parts: parts.map(({ name }) => name),
    files,
    assets,
    ...(signer?.path ? { signer_keypair: signer.path } : {}),
  }
  writeAtomically(join(draft, BACKUP_LIST), `${JSON.stringify(list, undefined, 2)}\n`, { syncFolder: true })
  return list
}

/** The process that serves a chain locks it and makes the copy, which is removed once it is in the backup. */
async function copyChain(config: Config, path: string, target: string): Promise<void> {
  const { copySqlite } = await import('../../../src/store/sqlite/copy.ts')
  const { withServedChain } = await import('../localnet.ts')
  const isServed = await withServedChain(config, (copy) => copySqlite(copy, target))
  if (!isServed) await copySqlite(path, target)
  requireChain(target)
}

/** Throws for a file that is not an embedded chain, such as one that was read during a write. */
export function requireChain(file: string): void {
  const Driver = loadSqlite()
  let chain: InstanceType<typeof Driver> | undefined
  try {
    chain = new Driver(file, { readonly: true, fileMustExist: true })
    if (chain.prepare("select 1 from settings where name = 'seed'").get() !== undefined) return
  } catch (error) {
    throw failure(`${file} is not an embedded chain: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  } finally {
    chain?.close()
  }
  throw failure(`${file} is not an embedded chain`, { next: 'leave it out, or make the backup again' })
}

/** Throws if the copied key does not belong to the copied database. */
async function requireCopiedKey(file: string, expected: string | null): Promise<void> {
  const { vaultOfFile } = await import('../../../src/store/installation/vault.ts')
  const own = vaultOfFile(file)?.fingerprint ?? null
  if (expected === null || own === expected) return
  throw failure(`encryption.key (fingerprint ${own}) does not open this database, which was sealed with ${expected}`, {
    next: 'put the right key back first: `svc doctor` says which one is expected',
  })
}

/** Copies a small secret after checking that no other user could read or replace it. */
export function copyKey(from: string, to: string): void {
  const descriptor = openOwnFile(from, { secret: true })
  try {
    writeAtomically(to, readFileSync(descriptor))
  } finally {
    closeSync(descriptor)
  }
}

function copyWallets(to: string): void {
  mkdirSync(to, { mode: 0o700 })
  for (const name of walletNames()) {
    const file = fileOfWallet(name)
    copyKey(file, join(to, basename(file)))
  }
}

const isBelowAssets = (name: string) => name.split(sep)[0] === PART_FILES.assets

const copyInto = (from: string, to: string) => void writeAtomically(to, readFileSync(from))

/**
 * Copies assets that are not there yet, and counts all intact ones. Other files are left out, such as unfinished ones
 * and assets whose content does not match their name.
 */
export async function copyAssets(from: string, to: string): Promise<{ files: number; bytes: number }> {
  const { cidOf } = await import('../../../src/storage/cid.ts')
  mkdirSync(to, { recursive: true, mode: 0o700 })
  let [files, bytes] = [0, 0]
  for (const name of readdirSync(from)) {
    const source = join(from, name)
    if (!ASSET_NAME.test(name) || !lstatSync(source).isFile()) continue
    const asset = readFileSync(source)
    if ((await cidOf(asset)) !== name) continue
    files++
    bytes += asset.length
    if (!existsSync(join(to, name))) writeAtomically(join(to, name), asset)
  }
  return { files, bytes }
}

const ASSET_NAME = /^bafkrei[a-z2-7]{52}$/

async function describeFile(folder: string, name: string): Promise<BackupFile> {
  return { name, bytes: statSync(join(folder, name)).size, sha256: await hashFile(join(folder, name)) }
}

const replacedFolder = (folder: string) => join(dirname(folder), `${basename(folder)}.replaced`)

/** Gives the backup its name, and keeps an earlier one until then. */
function replaceBackup(target: string, draft: string): void {
  const old = replacedFolder(target)
  rmSync(old, { recursive: true, force: true })
  moveIfThere(target, old)
  moveIfThere(draft, target)
  rmSync(old, { recursive: true, force: true })
}

function writeFault(error: unknown, target: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined) return error
  const why = code === 'ENOSPC' ? 'the disk is full' : code === 'EACCES' ? 'permission denied' : code
  return failure(`the backup ${target} cannot be written: ${why}`, { next: 'choose another folder', cause: error })
}
