/** Writes and checks the list of a backup's files. It is written last, and checked before anything is restored. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openOwnFile, readOwn } from '../../../src/platform/files.ts'
import { DATABASE_FILE } from '../../../src/settings/config.ts'
import { PART_NAMES, type PartName } from '../../database/installation.ts'
import { failure, usage } from '../../ui/problem.ts'
import { PART_FILES } from './parts.ts'

export const BACKUP_FORMAT = 1
/** The file of a backup that lists the others. */
export const BACKUP_LIST = 'backup.json'

export interface BackupFile {
  name: string
  bytes: number
  sha256: string
}
export interface BackupList {
  svc_backup: number
  version: string
  created_at: string
  /** Last migration of the database. */
  schema: string
  fingerprint: string | null
  parts: readonly PartName[]
  /** Every file except the assets, whose names are hashes of their content. */
  files: readonly BackupFile[]
  assets: { files: number; bytes: number } | null
  /** The path of `signer.keypair` when the backup was made; only with the part `signer-key`. */
  signer_keypair?: string
}

/** The list has a line for each of a few files, and for each wallet. */
const LIST_BYTES = 1_048_576

/** Throws a usage problem for a folder that is not a backup, or whose list names other files. */
export function readList(folder: string): BackupList {
  const file = join(folder, BACKUP_LIST)
  if (!existsSync(file)) {
    throw usage(`${folder} is not a backup: it has no ${BACKUP_LIST}`, {
      next: `to restore only a copied database, name its file: ${join(folder, DATABASE_FILE)}`,
    })
  }
  return parsedList(file, readOwn(file, { maxBytes: LIST_BYTES }))
}

/** The list that `text` has; `file` is its name in errors. */
export function parsedList(file: string, text: string): BackupList {
  let list: Partial<BackupList>
  try {
    list = JSON.parse(text) as Partial<BackupList>
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw usage(`${file} is not JSON: use another backup`)
  }
  if (list.svc_backup !== BACKUP_FORMAT) {
    throw usage(`${file} has format ${list.svc_backup}, and this program reads ${BACKUP_FORMAT}`, {
      next: 'upgrade svc, or use another backup',
    })
  }
  return checkedList(file, list)
}

/** Throws if the list names anything except the parts of a backup, because it could lead to other files. */
function checkedList(file: string, list: Partial<BackupList>): BackupList {
  const known: readonly string[] = [DATABASE_FILE, ...Object.values(PART_FILES)]
  const files: unknown = list.files
  const parts: unknown = list.parts
  if (!Array.isArray(files) || !Array.isArray(parts)) throw strangeList(file)
  const names = files.map((one: Partial<BackupFile> | null) => one?.name ?? '')
  const needed = parts.map((part: unknown) => PART_NAMES.find((name) => name === part) ?? null)
  const isWhole =
    names.every((name) => known.includes(name) || WALLET_FILE.test(name)) &&
    names.includes(DATABASE_FILE) &&
    needed.every((part) => part !== null && (FOLDERS.has(part) || names.includes(PART_FILES[part])))
  if (!isWhole) throw strangeList(file)
  return list as BackupList
}

const WALLET_FILE = new RegExp(`^${PART_FILES.wallets}/[a-z0-9][a-z0-9_-]*\\.json$`)
/** Parts that are folders, which may be empty. */
const FOLDERS: ReadonlySet<PartName> = new Set(['assets', 'wallets'])

const strangeList = (file: string) => usage(`${file} is not what svc writes there: use another backup`)

/** Throws for a file that has changed since it was written. */
export async function checkBackupFile(folder: string, { name, bytes, sha256 }: BackupFile): Promise<void> {
  const file = join(folder, name)
  if ((await hashFile(file)) === sha256) return
  const size = statSync(file).size
  throw failure(`${file} has changed since it was written (${size} bytes of ${bytes}): it was cut off or altered`, {
    next: 'take another backup',
  })
}

/** Bytes of all files of a backup. */
export const sizeOfBackup = ({ files, assets }: BackupList) =>
  files.reduce((sum, { bytes }) => sum + bytes, 0) + (assets?.bytes ?? 0)

/** The SHA-256 of a file of any size, in hex. Throws FileFault for one that others can write. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { fd: openOwnFile(file) })) hash.update(chunk)
  return hash.digest('hex')
}
