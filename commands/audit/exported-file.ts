/** Files of exported audit entries: written as one JSON object a line, and verified without the service. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { AuditEntry } from '../../src/api/audit-entries.ts'
import { replaceWith } from '../../src/platform/files.ts'
import { MOST_STEPS, type PageQuery, pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { reason } from '../ui/files.ts'
import { failure, Problem, usage } from '../ui/problem.ts'

export interface ExportedLog {
  entries: number
  first: AuditEntry | null
  last: AuditEntry | null
}

export interface ExportOptions {
  /** Replaces an existing file. */
  force?: boolean
  /** Only entries from before this time in Unix milliseconds, up to the first that is not. */
  before?: number
}

/**
 * Writes the stored entries, oldest first, to a file that only this user can read. The file gets its name when it is
 * complete, and is on the disk when this ends. A killed process leaves no file, or a draft beside it.
 */
export async function exportEntries(
  session: Pick<Session, 'client' | 'ui'>,
  file: string,
  { force = false, before = Number.POSITIVE_INFINITY }: ExportOptions = {},
): Promise<ExportedLog> {
  const refusal = usage(`${file} already exists: choose another, or replace it with \`export --force\``)
  if (!force && existsSync(file)) throw refusal
  try {
    const exported: ExportedLog[] = []
    const write = async (draft: string) => void exported.push(await writeEntries(session, draft, before))
    await replaceWith(file, write, { exclusive: !force })
    await syncFolder(dirname(file))
    const [written] = exported
    if (written === undefined) throw new Error('the export was not written')
    return written
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw refusal
    if (syscall !== undefined && !(error instanceof Problem)) throw usage(`${file} cannot be written: ${reason(error)}`)
    throw error
  }
}

async function writeEntries(
  { client, ui }: Pick<Session, 'client' | 'ui'>,
  file: string,
  before: number,
): Promise<ExportedLog> {
  const handle = await open(file, 'wx', 0o600)
  try {
    const exported: ExportedLog = { entries: 0, first: null, last: null }
    const list = (paging: PageQuery) => client.auditEntries.list({ order: 'asc', ...paging })
    for await (const { data } of pagesOf(list, { most: MOST_STEPS })) {
      const end = data.findIndex(({ at }) => Date.parse(at) >= before)
      await appendLines(handle, exported, end === -1 ? data : data.slice(0, end))
      if (end !== -1) break
      ui.progress('Reading')(exported.entries, 0)
    }
    await handle.sync()
    return exported
  } finally {
    await handle.close()
  }
}

/** A new file is there after a power failure only if its folder was synced too. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

async function appendLines(handle: FileHandle, exported: ExportedLog, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  await handle.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  exported.entries += entries.length
  exported.first ??= entries[0] ?? null
  exported.last = entries.at(-1) ?? exported.last
}

export interface VerifiedFile extends ExportedLog {
  /** SHA-256 of the file in hex. */
  sha256: string
}

/** Recomputes every hash of a file. Throws a failure that names the first line that is not valid. */
export async function verifyFile(file: string): Promise<VerifiedFile> {
  const sha256 = createHash('sha256')
  const verified: ExportedLog = { entries: 0, first: null, last: null }
  const stream = createReadStream(file)
  stream.on('data', (bytes) => sha256.update(bytes))
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      const entry = entryIn(line)
      const fault = entry === null ? 'it is not an entry of an export' : faultOf(entry, verified.last)
      if (entry === null || fault !== null)
        throw failure(`${file}:${verified.entries + 1} is not valid: ${fault}`, {
          next: 'the file was changed, or cut short',
        })
      verified.entries++
      verified.first ??= entry
      verified.last = entry
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    throw usage(`${file} cannot be read: ${reason(error)}`)
  } finally {
    stream.destroy()
  }
  return { ...verified, sha256: sha256.digest('hex') }
}

function entryIn(line: string): AuditEntry | null {
  try {
    const value = JSON.parse(line) as AuditEntry | null
    return typeof value === 'object' && value !== null && Number.isSafeInteger(value.sequence) ? value : null
  } catch {
    return null
  }
}

function faultOf(entry: AuditEntry, before: AuditEntry | null): string | null {
  if (before !== null && entry.sequence !== before.sequence + 1) return `entry ${before.sequence + 1} is missing`
  if (before !== null && entry.previous_hash !== before.hash) return 'it does not continue the entry before it'
  if (entry.hash !== entryHash(entry)) return 'its fields are not those that were hashed'
  return JSON.stringify(entry.details) === compact(entry.details_json)
    ? null
    : 'its details are not those that were hashed'
}

/** The text that JSON.stringify makes of it. Text with a valid hash is JSON, so parsing cannot fail. */
const compact = (json: string): string => JSON.stringify(JSON.parse(json))

/** The hash as docs/signer.md defines it, computed from what an export shows. */
function entryHash(entry: AuditEntry): string {
  const { sequence, previous_hash, at, action, signer, api_key_id, request_id, details_json } = entry
  const fields = [sequence, previous_hash, Date.parse(at), action, signer, api_key_id, request_id, details_json]
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}
