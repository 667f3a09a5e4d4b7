/** `svc audit`: every signature of the platform wallet and every change of its policy, of API keys and of fee schedules, in a verifiable log. */

import { createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { AUDIT_ACTIONS } from '../../src/api/audit-actions.ts'
import type { AuditEntry, AuditVerification } from '../../src/api/audit-entries.ts'
import { paths } from '../../src/api/paths.ts'
import { openOwnFile, replaceWith } from '../../src/platform/files.ts'
import { DAY_MS } from '../../src/platform/timing.ts'
import { Amount, LAMPORT_DECIMALS, wholeOf } from '../cli/amounts.ts'
import {
  type CommandOutcome,
  choiceOf,
  integer,
  type Noun,
  type Rows,
  required,
  text,
  toggle,
  verb,
} from '../cli/command.ts'
import { MOST_STEPS, type PageQuery, pagesOf } from '../cli/pages.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { reason } from '../ui/files.ts'
import { EXIT, failure, Problem, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'

// Files of exported audit entries: written as one JSON object a line, and verified without the service.

interface ExportedLog {
  entries: number
  first: AuditEntry | null
  last: AuditEntry | null
}

interface ExportOptions {
  /** Replaces an existing file. */
  force?: boolean
  /** Only entries from before this time in Unix milliseconds, up to the first that is not. */
  before?: number
}

/**
 * Writes the stored entries, oldest first, to a file that only this user can read. The file gets its name when it is
 * complete, and is on the disk when this ends. A killed process leaves no file, or a draft beside it.
 */
async function exportEntries(
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
async function syncFolder(folder: string): Promise<void> {
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

interface VerifiedFile extends ExportedLog {
  /** SHA-256 of the file in hex. */
  sha256: string
}

/** Recomputes every hash of a file. Throws a failure that names the first line that is not valid. */
async function verifyFile(file: string): Promise<VerifiedFile> {
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

// `svc audit cut`: exports the old entries of the audit log, verifies the file, and only then has them removed.

const KEPT_DAYS = 365

const cut = verb({
  about: 'Move old entries of the log to a file, and remove them',
  details:
    'The file is written, read back and verified before anything is removed. A sealed anchor replaces the removed entries: `svc audit verify` proves the rest of the log from it, and `svc audit verify --file FILE` proves the file. Keep the file: it is the only copy. After an interruption run the same command again: it verifies the existing file and does not write it again.',
  calls: [paths.auditEntries.list, paths.auditEntries.cut],
  args: { file: required(text('New file for the entries (0600), or that of an interrupted cut')) },
  flags: { keep_days: integer(`Days that stay in the log (default: ${KEPT_DAYS})`, { min: 2, max: 36_500 }) },
  examples: ['svc audit cut audit-2025.jsonl', 'svc audit cut audit-2026.jsonl --keep-days 365'],
  async run({ file, keep_days = KEPT_DAYS }, session) {
    const { client, clock, ui } = session
    const [oldest] = (await client.auditEntries.list({ order: 'asc', limit: '1' })).data
    const begun = oldest === undefined ? null : await earlierExport(file, oldest)
    const isCut = begun !== null && oldest?.sequence === begun.last.sequence + 1
    const before = clock.now() - keep_days * DAY_MS
    const isOld = oldest !== undefined && Date.parse(oldest.at) < before
    if (isCut && isOld)
      throw usage(
        `${file} holds what was cut before, and more is older than ${counted(keep_days, 'day')} now: choose another file`,
      )
    if (!isCut && !isOld) {
      const data = { file: null, entries: 0 }
      return { data, text: `Nothing is older than ${counted(keep_days, 'day')}; nothing was removed.` }
    }
    const exported = begun ?? (await exportOld(session, file, before))
    const { first, last, sha256 } = exported
    if (!isCut) {
      if (Date.parse(last.at) >= before)
        throw usage(
          `${file} holds entries of the last ${counted(keep_days, 'day')}: choose another file, or fewer --keep-days`,
        )
      await ui.confirm(
        `Remove the entries ${first.sequence} to ${last.sequence} from the log? ${file} is then the only copy.`,
      )
    }
    const { data } = await client.auditEntries.cut({ through: last.sequence, hash: last.hash, file_sha256: sha256 })
    return {
      data: { file, file_sha256: sha256, ...data },
      text: isCut
        ? `The entries ${first.sequence} to ${last.sequence} were moved to ${file} before. Keep it: it is the only copy.`
        : `Moved ${counted(exported.entries, 'entry', 'entries')}, ${first.sequence} to ${last.sequence}, to ${file}. Keep it: it is the only copy.`,
    }
  },
})

type OldEntries = VerifiedFile & { first: AuditEntry; last: AuditEntry }

/** Writes the entries from before that time, and returns what the file holds, read back from the disk. */
async function exportOld(session: Session, file: string, before: number): Promise<OldEntries> {
  await exportEntries(session, file, { before })
  const { first, last, ...verified } = await verifyFile(file)
  if (first === null || last === null) throw usage(`${file} holds no entries`)
  return { ...verified, first, last }
}

/**
 * Returns what the file of an interrupted cut holds, or null if there is no file. Throws a problem for any other file:
 * the log must continue it with its oldest entry. The service compares the last hash to check that the entries are
 * this log's.
 */
async function earlierExport(file: string, oldest: AuditEntry): Promise<OldEntries | null> {
  if (!existsSync(file)) return null
  closeSync(openOwnFile(file))
  const { first, last, ...verified } = await verifyFile(file).catch((cause: unknown) => {
    if (!(cause instanceof Problem)) throw cause
    throw usage(`${file} already exists and is not a complete export (${cause.message}): choose another`)
  })
  if (first === null || last === null || first.sequence > oldest.sequence || last.sequence < oldest.sequence - 1)
    throw usage(`${file} already exists and does not hold the beginning of this log: choose another`)
  await syncFolder(dirname(file))
  return { ...verified, first, last }
}

const auditPaths = paths.auditEntries
export const auditNoun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List the audit log, newest first',
      at: auditPaths.list,
      filters: {
        action: choiceOf(AUDIT_ACTIONS, 'Only entries of this kind'),
        order: choiceOf(['asc', 'desc'], 'Order (default desc)', { asc: 'oldest first', desc: 'newest first' }),
      },
      examples: ['svc audit list', 'svc audit list --action signing.refused --all -o json'],
      columns: ['sequence', 'at', 'action', 'details', 'api_key_id'],
      table: auditTable,
      call: (client, query) => client.auditEntries.list(query),
    }),
    verify: verb({
      about: 'Recompute the log: exit 1 if an entry was changed',
      details:
        'Entries are sealed with the encryption key: someone who can write only the database can cut the log off, but cannot rewrite it. Keep the printed head in another place; --head checks that it is still part of the log. The policy and the spends of the day are compared with their entries.',
      calls: [auditPaths.verify],
      flags: {
        head: text('Hash of an entry that must be there', { placeholder: 'HASH' }),
        // A file names its own head.
        file: text('Verify an exported file, and that the log continues it', {
          placeholder: 'FILE',
          conflicts: ['head'],
        }),
      },
      examples: ['svc audit verify', 'svc audit verify --file audit-2026.jsonl'],
      async run({ head, file }, { client }) {
        if (file !== undefined) return verifyExport(client, file)
        const { data } = await client.auditEntries.verify(head === undefined ? {} : { head })
        return verdictOutcome(data)
      },
    }),
    export: verb({
      about: 'Write the whole log to a file, oldest first, one JSON object a line',
      calls: [auditPaths.list],
      args: { file: required(text('File to write (0600)')) },
      flags: { force: toggle('Replace the file') },
      examples: ['svc audit export audit-2026.jsonl', 'svc audit export audit-2026.jsonl --force'],
      async run({ file, force }, session) {
        const { entries, last } = await exportEntries(session, file, { force })
        return {
          data: { file, entries, head: last?.hash ?? null },
          text: `Wrote ${counted(entries, 'entry', 'entries')} to ${file}.`,
        }
      },
    }),
    cut,
  },
}

function verdictOutcome(data: AuditVerification): CommandOutcome {
  const { intact, entries, broken, head, cut: before } = data
  const fault = broken === null ? '' : `Entry ${broken.sequence} is not valid: ${broken.why}. `
  const from = before === undefined ? '' : ` after entry ${before.sequence}, where the log was cut`
  return {
    data,
    text: intact
      ? `${counted(entries, 'entry', 'entries')}${from}, all intact. Head: ${head}`
      : `${fault}As they were written: ${counted(entries, 'entry', 'entries')}${from}.`,
    exitCode: intact ? EXIT.done : EXIT.failed,
  }
}

/** Verifies the file by itself, and that both of its ends are in the log. */
async function verifyExport(client: Session['client'], file: string): Promise<CommandOutcome> {
  const { entries, first, last, sha256 } = await verifyFile(file)
  if (first === null || last === null) throw usage(`${file} holds no entries`)
  for (const head of [first.previous_hash, last.hash]) {
    const { data } = await client.auditEntries.verify({ head })
    if (!data.intact) {
      const outcome = verdictOutcome(data)
      return { ...outcome, text: `${file}: ${counted(entries, 'entry', 'entries')} intact, but: ${outcome.text}` }
    }
  }
  return {
    data: { file, file_sha256: sha256, entries, first: first.sequence, last: last.sequence, head: last.hash },
    text: `${file}: ${counted(entries, 'entry', 'entries')}, ${first.sequence} to ${last.sequence}, all intact, and the log continues them.`,
  }
}

/** The table for a terminal: amounts in SOL, the whole signature, and no hashes, which the JSON output has. */
function auditTable(entries: readonly AuditEntry[]): Rows {
  const isSigned = entries.some(({ details }) => details.signature !== undefined)
  return {
    columns: ['sequence', 'at', 'action', 'details', 'api_key_id', ...(isSigned ? ['signature'] : [])],
    rows: entries.map(({ sequence, at, action, details: { signature, ...details }, api_key_id }) => [
      sequence,
      at,
      action,
      detailsText(details),
      api_key_id,
      ...(isSigned ? [signature] : []),
    ]),
  }
}

const HASH_FIELD = /_sha256$/
const LAMPORTS_FIELD = /_?lamports_?/

/** Fields as text like `per day 2 SOL, paused false`; nested objects are in brackets. */
function detailsText(fields: object): string {
  return Object.entries(fields)
    .filter(([name, value]) => !HASH_FIELD.test(name) && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => {
      if (Array.isArray(value)) return `${spaced(name)} ${value.map(detailText).join(' ')}`
      if (typeof value === 'object' && value !== null) return `${spaced(name)} (${detailsText(value)})`
      if (!LAMPORTS_FIELD.test(name)) return `${spaced(name)} ${value}`
      const sol = wholeOf(value, LAMPORT_DECIMALS)
      return `${spaced(name.replace(LAMPORTS_FIELD, ''))} ${sol instanceof Amount ? sol.grouped : sol} SOL`.trimStart()
    })
    .join(', ')
}

const spaced = (name: string) => name.replaceAll('_', ' ')
const detailText = (value: unknown) =>
  typeof value === 'object' && value !== null ? `(${detailsText(value)})` : String(value)
