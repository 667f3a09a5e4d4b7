/** `svc audit cut`: exports the old entries of the audit log, verifies the file, and only then has them removed. */

import { closeSync, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AuditEntry } from '../../src/api/audit-entries.ts'
import { paths } from '../../src/api/paths.ts'
import { openOwnFile } from '../../src/platform/files.ts'
import { DAY_MS } from '../../src/platform/timing.ts'
import { integer, required, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { Problem, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { exportEntries, syncFolder, type VerifiedFile, verifyFile } from './exported-file.ts'

const KEPT_DAYS = 365

export const cut = verb({
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
