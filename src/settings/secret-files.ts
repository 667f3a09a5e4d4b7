/**
 * Reads the value of a setting from the file that the operator named in a `SVC_…_FILE` variable, the way systemd,
 * Docker and Kubernetes provide secrets.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs'
import { isAbsolute } from 'node:path'
import { ConfigError } from '../platform/errors.ts'
import { readAtMost } from '../platform/files.ts'

/** Largest secret file in bytes; a UCAN proof, the longest secret, has a few thousand. */
export const SECRET_FILE_BYTES = 65_536

const OTHERS_CAN_WRITE = 0o002
const OPEN_TO_OTHERS = 0o077
const ROOT_USER = 0

/**
 * Returns the text of the file without one line break at its end. Throws ConfigError naming the variable and the file.
 *
 * Links are followed and any owner is accepted, because the operator chose the file, and secret volumes contain links
 * to files of root or of another user. The file is checked on the open descriptor.
 */
export function readSecretFile(variable: string, file: string): string {
  const refuse = (what: string, next: string): never => {
    throw new ConfigError(`${variable} names ${file}, which ${what}`, next)
  }
  if (!isAbsolute(file)) refuse('is not an absolute path', 'give the absolute path, starting with /')
  const descriptor = openSecret(file, refuse)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) refuse('is not a regular file', 'name a file that contains only the value')
    refuseOpenModes(file, stats, refuse)
    const content = readAtMost(descriptor, SECRET_FILE_BYTES)
    if (content === null) return refuse(`has more than ${SECRET_FILE_BYTES} bytes`, 'check what it is')
    return textIn(content, refuse)
  } finally {
    closeSync(descriptor)
  }
}

type Refuse = (what: string, next: string) => never

function openSecret(file: string, refuse: Refuse): number {
  try {
    // Without O_NONBLOCK, opening a pipe without a writer would block.
    return openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return refuse('does not exist', 'check its name and the mount')
    if (code === 'ELOOP') return refuse('is a link that points to itself', 'correct the link')
    const why = code === 'EACCES' || code === 'EPERM' ? 'permission denied' : (code ?? 'it cannot be opened')
    return refuse(`cannot be read: ${why}`, `make it readable for this user (uid ${process.getuid?.() ?? 'unknown'})`)
  }
}

/**
 * A file that everyone can write is refused. A file of this user must not be readable by others, like every key file;
 * a file placed by root or an orchestrator keeps the mode of its volume.
 */
function refuseOpenModes(file: string, { mode, uid }: Stats, refuse: Refuse): void {
  const shown = `mode ${(mode & 0o777).toString(8)}`
  if ((mode & OTHERS_CAN_WRITE) !== 0) refuse(`everyone can write (${shown})`, `run: chmod o-w ${file}`)
  const isOwn = uid !== ROOT_USER && uid === process.getuid?.()
  if (isOwn && (mode & OPEN_TO_OTHERS) !== 0) refuse(`others can read (${shown})`, `run: chmod 600 ${file}`)
}

function textIn(content: Buffer, refuse: Refuse): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return refuse('is not text in UTF-8', 'write the value into it as text')
  }
  const value = text.replace(/\r?\n$/, '')
  if (value === '') return refuse('is empty', 'write the value into it')
  if (value.includes('\0')) return refuse('contains a NUL character', 'write the value into it as text')
  return value
}
