/** Writes a backup of a SQLite installation: a folder with one file for each part and a list of them. */
import { closeSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { moveIfThere, openOwnFile, writeAtomically } from '../../../src/platform/files.ts'
import { loadSqlite } from '../../../src/platform/native-modules.ts'
import { VERSION } from '../../../src/platform/version.ts'
import { type Config, DATABASE_FILE } from '../../../src/settings/config.ts'
import type {
  BackupReport,
  BackupRequest,
  InstallationPart,
  PartName,
  StepProgress,
} from '../../database/installation.ts'
import { failure, Problem, usage } from '../../ui/problem.ts'
import { BACKUP_FORMAT, BACKUP_LIST, type BackupFile, type BackupList, sha256Of } from './backup-list.ts'
import { installationParts, PART_FILES } from './parts.ts'

const BACKUP_STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Copies the installation, also while a daemon uses it. The folder appears once everything in it is on disk. */
export async function backUp(config: Config, request: BackupRequest, onProgress: StepProgress): Promise<BackupReport> {
  const folder = resolve(request.folder)
  const parts = requestedParts(installationParts(config), request.include)
  refuseOverwriting(folder, request.force)
  const database = join(config.dataDir, DATABASE_FILE)
  if (!existsSync(database)) {
    throw new Problem('not_found', `there is no database in ${config.dataDir}`, { next: 'name it with --data-dir' })
  }
  const draft = `${folder}.partial`
  for (const stale of [draft, replacedFolder(folder)]) refuseStrangers(stale)
  const removeDraft = () => rmSync(draft, { recursive: true, force: true })
  // On Ctrl-C, the partial copy is removed, because it may contain the encryption key.
  const stopped = (_: NodeJS.Signals, number: number) => {
    removeDraft()
    process.exit(128 + number)
  }
  for (const signal of BACKUP_STOPS) process.once(signal, stopped)
  try {
    removeDraft()
    mkdirSync(draft, { mode: 0o700 })
    const list = await fillBackup(config, draft, parts, onProgress)
    if (existsSync(folder)) replaceBackup(folder, draft)
    else moveIfThere(draft, folder)
    const bytes = list.files.reduce((sum, file) => sum + file.bytes, list.assets?.bytes ?? 0)
    return {
      folder,
      included: list.parts,
      files: list.files.length + (list.assets?.files ?? 0),
      bytes,
      fingerprint: list.fingerprint,
      schema: list.schema,
    }
  } catch (error) {
    removeDraft()
    throw writeFault(error, folder)
  } finally {
    for (const signal of BACKUP_STOPS) process.removeListener(signal, stopped)
  }
}

/** A requested key must exist. Other parts are created on use, and are left out while missing. */
function requestedParts(parts: readonly InstallationPart[], include: readonly PartName[]): InstallationPart[] {
  const chosen = parts.filter(({ name }) => include.includes(name))
  const missing = chosen.find(({ name, path }) => path === null && name.endsWith('-key'))
  if (missing !== undefined) {
    const next =
      missing.name === 'encryption-key' ? 'if it is in SVC_ENCRYPTION_KEY, store that elsewhere' : 'leave it out'
    throw usage(`this installation has no ${PART_FILES[missing.name]} to include`, { param: '--include', next })
  }
  const inBucket = chosen.find(({ path, elsewhere }) => path === null && elsewhere !== null)
  if (inBucket?.elsewhere)
    throw usage(`this backup cannot include ${inBucket.name}`, { param: '--include', next: inBucket.elsewhere })
  return chosen.filter(({ path }) => path !== null)
}

function refuseOverwriting(folder: string, force: boolean): void {
  if (!existsSync(folder)) {
    if (existsSync(dirname(folder))) return
    throw usage(`${dirname(folder)} does not exist`, { next: 'make it, or choose another folder' })
  }
  if (!existsSync(join(folder, BACKUP_LIST))) {
    throw usage(`${folder} already exists, and is not a backup: nothing was written`, { next: 'choose another name' })
  }
  if (!force) throw usage(`${folder} already exists: replace that backup with --force`, { param: '--force' })
  refuseStrangers(folder)
}

/** Throws if a folder that is about to be removed contains something that no backup has. */
function refuseStrangers(folder: string): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const stranger = readdirSync(folder).find((name) => !isOfBackup(name))
  if (stranger === undefined) return
  throw usage(`${folder} contains ${stranger}, which is not part of a backup: nothing was written`, {
    next: 'move that away, or choose another name',
  })
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
    if (path === null) continue
    if (name === 'assets') assets = await copyAssets(path, target)
    else if (name === 'chain') await copyChain(config, path, target)
    else if (name === 'profiles') copyInto(path, target)
    else copyKey(path, target)
    if (name === 'encryption-key') await requireCopiedKey(target, fingerprint)
  }
  const files: BackupFile[] = []
  for (const name of readdirSync(draft)) if (name !== PART_FILES.assets) files.push(await fileOf(draft, name))
  const list: BackupList = {
    svc_backup: BACKUP_FORMAT,
    version: VERSION,
    created_at: new Date().toISOString(),
    schema: applied.at(-1) ?? '',
    fingerprint,
    parts: parts.map(({ name }) => name),
    files,
    assets,
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

async function fileOf(folder: string, name: string): Promise<BackupFile> {
  return { name, bytes: statSync(join(folder, name)).size, sha256: await sha256Of(join(folder, name)) }
}

const replacedFolder = (folder: string) => join(dirname(folder), `${basename(folder)}.replaced`)

/** Keeps the earlier backup until the new one has its name. */
function replaceBackup(folder: string, draft: string): void {
  const old = replacedFolder(folder)
  rmSync(old, { recursive: true, force: true })
  moveIfThere(folder, old)
  moveIfThere(draft, folder)
  rmSync(old, { recursive: true, force: true })
}

function writeFault(error: unknown, folder: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall === undefined) return error
  const why = code === 'ENOSPC' ? 'the disk is full' : code === 'EACCES' ? 'permission denied' : code
  return failure(`the backup ${folder} cannot be written: ${why}`, { next: 'choose another folder', cause: error })
}
