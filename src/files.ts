/** Files and folders of this user: what is another's, behind a link or open to others is refused, with the way out. */
import { randomBytes } from 'node:crypto'
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
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ApiError } from './errors.ts'

/** `exposed` is what others could have written or could read; only that is a question of trust. */
export type FaultKind = 'missing' | 'unreadable' | 'content' | 'exposed'

/** A file or folder that is not used as it is. */
export class FileFault extends ApiError {
  readonly kind: FaultKind
  /** A sentence without the way out, which is `next`; the message is both. */
  readonly said: string
  /** What is wrong, to be said after the file's name. */
  readonly what: string
  readonly next: string

  constructor(kind: FaultKind, said: string, what: string, next: string) {
    super('internal_error', `${said}; ${next}`)
    this.kind = kind
    this.said = said
    this.what = what
    this.next = next
  }
}

export interface ReadOptions {
  /** Others must not read it; without this they must not write it. */
  secret?: boolean
  maxBytes?: number
  /** Where it may lie: a folder of this user alone, or one where nobody else can replace it, like /tmp. */
  folder?: 'own' | 'safe'
  /** Takes it from any owner, mode and folder; a link is refused all the same. */
  trusted?: boolean
}

const MAX_READ_BYTES = 65_536
const WRITABLE = 0o022
const OPEN = 0o077
const STICKY = 0o1000
const ROOT = 0

/** The text of a small file. Throws FileFault; every check is of the file that was opened, not of its name. */
export function readOwn(file: string, options: ReadOptions = {}): string {
  const { secret = false, maxBytes = MAX_READ_BYTES, folder = 'safe', trusted = false } = options
  // A pipe without a writer would block the opening itself.
  const descriptor = openOwn(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw fileFault('content', file, 'is not a file', 'name a file, or remove what stands there')
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

/** Like `readOwn`; null where there is no such file. */
export function readOwnIfThere(file: string, options: ReadOptions = {}): string | null {
  try {
    return readOwn(file, options)
  } catch (error) {
    if (error instanceof FileFault && error.kind === 'missing') return null
    throw error
  }
}

/** Makes the data folder (0700) where it is missing, and closes one that others can read. Throws like `requireOwnFolder`. */
export function makeDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { mode } = requireDataFolder(folder)
  if ((mode & OPEN) !== 0) chmodSync(folder, 0o700)
}

/** Throws FileFault where the data folder is another's or can be written by others; changes nothing. */
export const requireDataFolder = (folder: string): Stats =>
  requireOwnFolder(folder, `the data folder ${folder}`, 'choose another with --data-dir, or ')

function requireOwnFolder(folder: string, name = `the folder ${folder}`, choice = ''): Stats {
  const stats = statSync(folder)
  const refuse = (what: string, next: string) => new FileFault('exposed', `${name} ${what}`, what, choice + next)
  const stranger = strangerOf(stats)
  if (stranger !== undefined) throw refuse(stranger, `run: chown ${process.getuid?.()} ${folder}`)
  if ((stats.mode & WRITABLE) !== 0) {
    throw refuse(
      `can be written by others (mode ${shownMode(stats)}), who could have put anything there`,
      `look through it and run: chmod ${choice === '' ? 'go-w' : '700'} ${folder}`,
    )
  }
  return stats
}

/**
 * Makes a private SQLite database (0600) where it is missing, and closes it and the files beside it to others. Throws
 * FileFault. None of them is opened once it exists: closing it would drop the locks that this process holds on it.
 */
export function makeOwnDatabase(file: string): void {
  try {
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  for (const suffix of ['', '-wal', '-shm', '-journal']) closeToOthers(file + suffix)
}

export interface AtomicWrite {
  /** Permission bits of the file; 0600, this user alone, unless given. */
  mode?: number
  /** Leaves a file that is there already as it is: of several processes, one creates it. */
  exclusive?: boolean
  /** Syncs the folder as well, so that the file's name survives a power cut too. */
  syncFolder?: boolean
}

/**
 * Writes a file in one step: after a crash it is what it was before or holds the whole content, which is on the disk.
 * False where `exclusive` left an existing file. Throws the error of the file system.
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

/** False where the file is there already. */
function linkedAs(file: string, draft: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Replaces a file in one step with what `write` makes of a draft beside it, for content that is streamed or large. */
export async function replaceWith(file: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = draftOf(file)
  try {
    await write(draft)
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

const draftOf = (file: string) => `${file}.${randomBytes(6).toString('hex')}`
function syncFolderOf(file: string): void {
  const descriptor = openSync(dirname(file), 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** By its name, which nobody else can give to another file: the folder is this user's. */
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
  // FreeBSD says EMLINK where others say ELOOP.
  if (code === 'ELOOP' || code === 'EMLINK') return linkFault(file)
  if (code === 'EISDIR') return fileFault('content', file, 'is not a file', 'remove what stands there')
  const why = code === 'EACCES' || code === 'EPERM' ? 'permission denied' : (code ?? 'it does not open')
  return fileFault('unreadable', file, `cannot be read: ${why}`, 'make it readable for this user alone')
}

const linkFault = (file: string) =>
  fileFault('exposed', file, 'is a symbolic link', `use the file itself${behind(file)}`)

function behind(link: string): string {
  try {
    return `: ${realpathSync(link)}`
  } catch {
    return ''
  }
}

function refuseExposed(file: string, stats: Stats, refused: number): void {
  const stranger = strangerOf(stats)
  if (stranger !== undefined) throw fileFault('exposed', file, stranger, `chown ${process.getuid?.()} ${file}`)
  if ((stats.mode & refused) === 0) return
  const [verb, repair] = refused === OPEN ? ['read', '600'] : ['written', 'go-w']
  throw fileFault('exposed', file, `can be ${verb} by others (mode ${shownMode(stats)})`, `chmod ${repair} ${file}`)
}

/** In a folder like /tmp nobody but a file's owner can replace it; in any other that others write, anybody can. */
function refuseReplaceable(file: string): void {
  const folder = dirname(resolve(file))
  const stats = statSync(folder)
  const stranger = stats.uid === ROOT ? undefined : strangerOf(stats)
  const open = (stats.mode & WRITABLE) !== 0 && (stats.mode & STICKY) === 0
  if (stranger === undefined && !open) return
  const what = stranger ?? `can be written by others (mode ${shownMode(stats)})`
  const next = stranger === undefined ? `chmod go-w ${folder}` : 'move it into a folder of this user'
  throw fileFault('exposed', file, `is in a folder that ${what}`, next)
}

/** Nothing on a system without user ids. */
function strangerOf({ uid }: Stats): string | undefined {
  const user = process.getuid?.()
  return user === undefined || uid === user ? undefined : `belongs to another user (uid ${uid}, not ${user})`
}

const shownMode = ({ mode }: Stats) => (mode & 0o777).toString(8)

const fileFault = (kind: FaultKind, file: string, what: string, next: string) =>
  new FileFault(kind, /^(?:can|has)/.test(what) ? `${file} ${what}` : `cannot read ${file}: it ${what}`, what, next)
