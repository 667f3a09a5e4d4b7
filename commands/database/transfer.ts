/** `svc db export` and `svc db import`: a whole database through a file, between SQLite and PostgreSQL. */

import { required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import type { TransferReport } from './installation.ts'
import { sizeText } from './sizes.ts'

export const exportVerb = verb({
  about: 'Write every table to a file that SQLite and PostgreSQL can import',
  details:
    'One JSON value a line, as of one moment, with the hash of each table. Sealed columns stay sealed: the encryption key is not in it. A daemon may run; what it writes later is not in the file.',
  args: { file: required(text('File to write (0600)')) },
  flags: { force: toggle('Replace the file') },
  examples: [
    'svc db export svc.jsonl',
    'SVC_DATABASE_URL_FILE=/run/secrets/database-url svc db export svc.jsonl --force -o json',
  ],
  async run({ file, force }, { database, ui }: Session) {
    const data = await database.export(file, force, ui.progress('Exporting'))
    ui.clear()
    return {
      ...transferOutcome(data),
      text: `Exported ${counted(data.rows, 'row')} of ${data.tables.length} tables to ${data.file} (${sizeText(data.bytes)}).`,
      notes: [
        ...(data.fingerprint === null ? [] : [`Only the key with fingerprint ${data.fingerprint} opens it.`]),
        ...(data.daemon === null
          ? []
          : [
              `The daemon (pid ${data.daemon}) is still running: to move to another database, stop it and export again.`,
            ]),
      ],
    }
  },
})

export const importVerb = verb({
  about: 'Fill an empty database from an export',
  details:
    'Runs in one transaction: each table is read again, and its number of rows and its hash are compared with the export before the commit. Numbering continues where it ended. Refused if the database is not empty, or if the key differs.',
  args: { file: required(text('File that svc db export wrote', { existing: true })) },
  examples: [
    'SVC_DATABASE_URL_FILE=/run/secrets/database-url svc db import svc.jsonl',
    'svc db import svc.jsonl -o json',
  ],
  async run({ file }, { database, ui }: Session) {
    const facts = await database.inspectExport(file)
    await ui.preview([
      `Export of ${timeText(facts.created_at)} by svc ${facts.version} from ${facts.from}`,
      `→ ${facts.to} at ${facts.place}`,
    ])
    const data = await database.import(file, ui.progress('Importing'))
    ui.clear()
    return {
      ...transferOutcome(data),
      text: `Imported ${counted(data.rows, 'row')} of ${data.tables.length} tables into ${data.place}; every hash is that of the export.`,
      notes: [
        'Assets are files: copy the folder `assets` of the earlier installation if it has one; assets in a bucket stay there.',
      ],
    }
  },
})

const transferOutcome = (data: TransferReport) => ({
  data,
  rows: {
    columns: ['table', 'rows', 'sha256'],
    rows: data.tables.map(({ table, rows, sha256 }) => [table, rows, sha256]),
  },
})
