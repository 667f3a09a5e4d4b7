/** `svc audit cut`: exports the old entries of the audit log, verifies the file, and only then has them removed. */
import { paths } from '../../src/api/paths.ts'
import { DAY_MS } from '../../src/timing.ts'
import { integer, required, text, verb } from '../command.ts'
import type { Session } from '../session.ts'
import { exportEntries, type VerifiedFile, verifyFile } from './exported-file.ts'

const KEPT_DAYS = 365

export const cut = verb({
  about: 'Move old entries of the log to a file, and remove them',
  details:
    'The file is written, read back and verified before anything is removed. A sealed anchor stays in place of what is removed: `svc audit verify` proves the rest from it, and `svc audit verify --file FILE` the file. Keep the file: it is the only copy.',
  calls: [paths.auditEntries.list, paths.auditEntries.cut],
  args: { file: required(text('New file for the entries (0600)')) },
  flags: { keep_days: integer(`Days that stay in the log (default: ${KEPT_DAYS})`, { min: 2, max: 36_500 }) },
  examples: ['svc audit cut audit-2026.jsonl --keep-days 365'],
  async run({ file, keep_days = KEPT_DAYS }, session) {
    const { client, clock, ui } = session
    const exported = await exportOld(session, file, clock.now() - keep_days * DAY_MS)
    if (exported === null) {
      const data = { file: null, entries: 0 }
      return { data, text: `Nothing is older than ${keep_days} days; nothing was removed.` }
    }
    const { first, last, sha256 } = exported
    await ui.confirm(
      `Remove the entries ${first.sequence} to ${last.sequence} from the log? ${file} is then the only copy.`,
    )
    const { data } = await client.auditEntries.cut({ through: last.sequence, hash: last.hash, file_sha256: sha256 })
    return {
      data: { file, file_sha256: sha256, ...data },
      text: `Moved ${exported.entries} entries, ${first.sequence} to ${last.sequence}, to ${file}. Keep it: it is the only copy.`,
    }
  },
})

type OldEntries = VerifiedFile & { first: NonNullable<VerifiedFile['first']>; last: NonNullable<VerifiedFile['last']> }

/** Returns what the file holds, read back from the disk, or null, without a file, where nothing is that old. */
async function exportOld(session: Session, file: string, before: number): Promise<OldEntries | null> {
  const [oldest] = (await session.client.auditEntries.list({ order: 'asc', limit: '1' })).data
  if (oldest === undefined || Date.parse(oldest.at) >= before) return null
  await exportEntries(session, file, { before })
  const { first, last, ...verified } = await verifyFile(file)
  return first === null || last === null ? null : { ...verified, first, last }
}
