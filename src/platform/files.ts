/**
 * Access to files and folders of the current user. Files of other users, symbolic links and files open to others are
 * rejected with a remedy.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ApiError } from './errors.ts'

/** `exposed` means that other users could have written or could read the file; no other kind concerns trust. */
export type FaultKind = 'missing' | 'unreadable' | 'content' | 'exposed'

/** A file or folder that cannot be used in its current state. */
export class FileFault extends ApiError {
  readonly kind: FaultKind
  /** The problem without the remedy, which is in `next`; the message contains both. */
  readonly problem: string
  /** The problem as a phrase that follows the file's name. */
  readonly what: string
  readonly next: string

  constructor(kind: FaultKind, problem: string, what: string, next: string) {
    super('internal_error', `${problem}; ${next}`)
    this.kind = kind
    this.problem = problem
    this.what = what
    this.next = next
  }
}

interface ReadOptions {
  /** Requires that other users cannot read the file; without this option they only must not be able to write it. */
  secret?: boolean
  maxBytes?: number
  /**
   * Required folder: one that only this user can write, or one like /tmp, in which other users cannot replace the file.
   */
  folder?: 'own' | 'safe'
  /** Accepts any owner, mode and folder; a symbolic link is still rejected. */
  trusted?: boolean
}

const MAX_READ_BYTES = 65_536
const WRITABLE = 0o022
const OPEN = 0o077
const STICKY = 0o1000
const ROOT = 0

/**
 * Returns the text of a small file. Throws FileFault. Every check uses the open descriptor, so that the file cannot be
 * swapped.
 */
export function readOwn(file: string, options: ReadOptions = {}): string {
  const { secret = false, maxBytes = MAX_READ_BYTES, folder = 'safe', trusted = false } = options
  // O_NONBLOCK is required because opening a pipe without a writer would block.
  const descriptor = openOwn(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw fileFault('content', file, 'is not a file', 'name a file, or remove what is there')
    if (!trusted) {
      refuseExposed(file, stats, secret ? OPEN : WRITABLE)
      if (folder === 'own') requireOwnFolder(dirname(resolve(file)))
      else refuseReplaceable(file)
    }
    if (stats.size > maxBytes) {
      throw fileFault('content', file, `has ${stats.size} bytes, too many`, 'check what it is')
    }
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Opens a file of any size for reading and returns its descriptor, which the caller closes. Throws FileFault as
 * `readOwn` does; with `secret`, also if other users can read it.
 */
export function openOwnFile(file: string, { secret = false } = {}): number {
  const descriptor = openOwn(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw fileFault('content', file, 'is not a file', 'name a file')
    refuseExposed(file, stats, secret ? OPEN : WRITABLE)
    refuseReplaceable(file)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * Reads the whole content of an open file. The size that the file system reports is not used: it is 0 on some mounts.
 * Returns null above `most` bytes.
 */
export function readAtMost(descriptor: number, most: number): Buffer | null {
  const buffer = Buffer.alloc(most + 1)
  let length = 0
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (read === 0) return buffer.subarray(0, length)
    length += read
  }
  return null
}

/** Works like `readOwn`, but returns null when the file does not exist. */
export function readOwnIfThere(file: string, options: ReadOptions = {}): string | null {
  try {
    return readOwn(file, options)
  } catch (error) {
    if (error instanceof FileFault && error.kind === 'missing') return null
    throw error
  }
}

/**
 * Creates a folder and its missing parents. Node's recursive mkdir never ends if a file system refuses new names with
 * ENOENT, as /proc does.
 */
export function makeFolders(folder: string, mode = 0o700): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(folder) !== folder) makeFolders(dirname(folder), mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have created it in the meantime.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const what = 'cannot be created there'
    const next = 'name another place with HOME, SVC_DATA_DIR or --data-dir'
    throw new FileFault('unreadable', `the folder ${folder} ${what}`, what, next)
  }
}

/**
 * Creates the data folder with mode 0700, or sets that mode when others can access it. Throws like `requireOwnFolder`.
 */
export function makeDataFolder(folder: string): void {
  makeFolders(folder)
  const { mode } = requireDataFolder(folder)
  if ((mode & OPEN) !== 0) chmodSync(folder, 0o700)
}

/** Throws FileFault when the data folder belongs to or can be written by another user; it changes nothing. */
export const requireDataFolder = (folder: string): Stats =>
  requireOwnFolder(folder, `the data folder ${folder}`, 'choose another with --data-dir, or ')

function requireOwnFolder(folder: string, name = `the folder ${folder}`, choice = ''): Stats {
  const stats = statSync(folder)
  const refuse = (what: string, next: string) => new FileFault('exposed', `${name} ${what}`, what, choice + next)
  const ownerFault = foreignOwner(stats)
  if (ownerFault !== undefined) throw refuse(ownerFault, `run: chown ${process.getuid?.()} ${folder}`)
  if ((stats.mode & WRITABLE) !== 0) {
    throw refuse(
      `can be written by others (mode ${shownMode(stats)}), who could have put any file there`,
      `look through it and run: chmod ${choice === '' ? 'go-w' : '700'} ${folder}`,
    )
  }
  return stats
}

/**
 * Creates a private SQLite database (0600) if missing, and removes other users' access to it and its side files. Throws
 * FileFault. Existing files are not opened, because closing them would drop the locks that this process holds.
 */
export function makeOwnDatabase(file: string): void {
  try {
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  for (const suffix of ['', '-wal', '-shm', '-journal']) closeToOthers(file + suffix)
}

interface AtomicWrite {
  /** Permission bits of the file; the default is 0600. */
  mode?: number
  /** Keeps an existing file unchanged, so that only one of several processes creates it. */
  exclusive?: boolean
  /** Syncs the folder as well, so that the file's name survives a power failure. */
  syncFolder?: boolean
}

/**
 * Writes a file atomically: after a crash it has either its previous content or the whole new content on disk. Returns
 * false when `exclusive` kept an existing file. Throws the error of the file system.
 *
 * @example
 * writeAtomically(file, `${key}\n`, { exclusive: true, syncFolder: true }) // false if another process was first
 */
export function writeAtomically(file: string, content: string | Uint8Array, options: AtomicWrite = {}): boolean {
  const { mode = 0o600, exclusive = false } = options
  const draft = draftOf(file)
  try {
    writeFileSync(draft, content, { mode, flag: 'wx', flush: true })
    if (!exclusive) renameSync(draft, file)
    else if (!linkedAs(file, draft)) return false
    if (options.syncFolder === true) syncFolderOf(file)
    return true
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Links the draft under the final name; false when that file already exists. */
function linkedAs(file: string, draft: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Replaces a file atomically with a draft that `write` fills, for content that is streamed or large. With `exclusive`
 * an
 * existing file stays, and the link's EEXIST is thrown.
 */
export async function replaceWith(
  file: string,
  write: (draft: string) => Promise<void>,
  { exclusive = false }: Pick<AtomicWrite, 'exclusive'> = {},
): Promise<void> {
  const { link, rename, rm } = await import('node:fs/promises')
  const draft = draftOf(file)
  try {
    await write(draft)
    if (exclusive) await link(draft, file)
    else await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Moves a file or folder within its file system and syncs both folders; false when it does not exist. */
export function moveIfThere(from: string, to: string): boolean {
  if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return false
  renameSync(from, to)
  syncFolderOf(to)
  syncFolderOf(from)
  return true
}

// Most commands write no file, and loading these bindings takes longer than reading one.
const draftOf = (file: string) => `${file}.${process.getBuiltinModule('node:crypto').randomBytes(6).toString('hex')}`

function syncFolderOf(file: string): void {
  const descriptor = openSync(dirname(file), 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Changes the mode by name, which is safe because only this user can replace files in the folder. */
function closeToOthers(file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return
  if (stats.isSymbolicLink()) throw linkFault(file)
  if (!stats.isFile()) throw fileFault('content', file, 'is not a file', 'remove it, or choose another --data-dir')
  refuseExposed(file, stats, WRITABLE)
  if ((stats.mode & OPEN) !== 0) chmodSync(file, 0o600)
}

function openOwn(file: string, flags: number): number {
  try {
    return openSync(file, flags | constants.O_NOFOLLOW)
  } catch (error) {
    throw openingFault(file, error as NodeJS.ErrnoException)
  }
}

function openingFault(file: string, error: NodeJS.ErrnoException): Error {
  const { code } = error
  if (code === 'ENOENT' || code === 'ENOTDIR') return fileFault('missing', file, 'does not exist', 'check its name')
  // FreeBSD returns EMLINK where other systems return ELOOP.
  if (code === 'ELOOP' || code === 'EMLINK') return linkFault(file)
  if (code === 'EISDIR') return fileFault('content', file, 'is not a file', 'remove what is there')
  const why = code === 'EACCES' || code === 'EPERM' ? 'permission denied' : (code ?? 'it cannot be opened')
  return fileFault('unreadable', file, `cannot be read: ${why}`, 'make it readable only for this user')
}

const linkFault = (file: string) =>
  fileFault('exposed', file, 'is a symbolic link', `use the file itself${linkTarget(file)}`)

function linkTarget(link: string): string {
  try {
    return `: ${realpathSync(link)}`
  } catch {
    return ''
  }
}

function refuseExposed(file: string, stats: Stats, refused: number): void {
  const ownerFault = foreignOwner(stats)
  if (ownerFault !== undefined) throw fileFault('exposed', file, ownerFault, `chown ${process.getuid?.()} ${file}`)
  if ((stats.mode & refused) === 0) return
  const [verb, repair] = refused === OPEN ? ['read', '600'] : ['written', 'go-w']
  throw fileFault('exposed', file, `can be ${verb} by others (mode ${shownMode(stats)})`, `chmod ${repair} ${file}`)
}

/**
 * Throws FileFault for a file in a folder where others can replace it; the sticky bit, as on /tmp, limits that to the
 * file's owner. The file need not exist.
 */
export function refuseReplaceable(file: string): void {
  const exposed = exposedFolder(dirname(resolve(file)))
  if (exposed !== null) throw fileFault('exposed', file, `is in a folder that ${exposed.what}`, exposed.next)
}

/**
 * The first folder on the path from the root to the file, with or without following links, in which another user could
 * replace it; null if there is none.
 */
export function exposedOnTheWay(file: string): ExposedFolder | null {
  for (const path of new Set([resolve(file), realpathSync(file)])) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const exposed = exposedFolder(folder)
      if (exposed !== null) return exposed
      if (folder === dirname(folder)) break
    }
  }
  return null
}

interface ExposedFolder {
  folder: string
  what: string
  next: string
}

function exposedFolder(folder: string): ExposedFolder | null {
  const stats = statSync(folder)
  const ownerFault = stats.uid === ROOT ? undefined : foreignOwner(stats)
  const open = (stats.mode & WRITABLE) !== 0 && (stats.mode & STICKY) === 0
  if (ownerFault === undefined && !open) return null
  const what = ownerFault ?? `can be written by others (mode ${shownMode(stats)})`
  return {
    folder,
    what,
    next: ownerFault === undefined ? `chmod go-w ${folder}` : 'move it into a folder of this user',
  }
}

/** Returns undefined when the file belongs to this user, and on systems without user ids. */
function foreignOwner({ uid }: Stats): string | undefined {
  const user = process.getuid?.()
  return user === undefined || uid === user ? undefined : `belongs to another user (uid ${uid}, not ${user})`
}

const shownMode = ({ mode }: Stats) => (mode & 0o777).toString(8)

const fileFault = (kind: FaultKind, file: string, what: string, next: string) =>
  new FileFault(kind, /^(?:can|has)/.test(what) ? `${file} ${what}` : `cannot read ${file}: it ${what}`, what, next)
