/** `svc audit`: every signature of the platform wallet and every change of its policy and of API keys, in a verifiable log. */
import { rmSync, writeFileSync } from 'node:fs'
import type { AuditEntry } from '../src/api/audit-entries.ts'
import { paths } from '../src/api/paths.ts'
import { LAMPORT_DECIMALS, wholeOf } from './amounts.ts'
import { choiceOf, type Noun, type Rows, required, text, toggle, verb } from './command.ts'
import { listVerb } from './reads.ts'
import { reason } from './ui/files.ts'
import { EXIT, usage } from './ui/problem.ts'

const auditPaths = paths.auditEntries
const ACTIONS = [
  'signing.intended',
  'signing.signed',
  'signing.refused',
  'signing.failed',
  'signer.tested',
  'policy.changed',
  'signer.paused',
  'signer.resumed',
  'spend.reset',
  'api_key.created',
  'api_key.revoked',
  'audit.sealed',
] as const

export const auditNoun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List the audit log, newest first',
      at: auditPaths.list,
      filters: {
        action: choiceOf(ACTIONS, 'Only entries of this kind'),
        order: choiceOf(['asc', 'desc'], 'asc: oldest first'),
      },
      columns: ['sequence', 'at', 'action', 'details', 'api_key_id'],
      table: auditTable,
      call: (client, query) => client.auditEntries.list(query),
    }),
    verify: verb({
      about: 'Recompute the log: exit 1 where an entry is not as it was written',
      details:
        'Entries are sealed with the encryption key: who can write the database alone can cut the log off, but not write it anew. Keep the head that this prints elsewhere, and give it as --head to see that it is still part of the log. The policy and the spends of the day are compared with their entries.',
      calls: [auditPaths.verify],
      flags: { head: text('Hash of an entry that must be there', { placeholder: 'HASH' }) },
      async run({ head }, { client }) {
        const { data } = await client.auditEntries.verify(head === undefined ? {} : { head })
        const { intact, entries, broken } = data
        const fault =
          broken === null || broken === undefined ? '' : `Entry ${broken.sequence} does not hold: ${broken.why}. `
        return {
          data,
          text: intact
            ? `${entries} entries, all intact. Head: ${data.head}`
            : `${fault}${entries} entries are as they were written.`,
          exitCode: intact ? EXIT.done : EXIT.failed,
        }
      },
    }),
    export: verb({
      about: 'Write the whole log to a file, oldest first, one JSON object a line',
      calls: [auditPaths.list],
      args: { file: required(text('File to write (0600)')) },
      flags: { force: toggle('Replace the file') },
      async run({ file, force }, { client, ui }) {
        const lines: string[] = []
        let cursor: string | undefined
        let last: AuditEntry | undefined
        do {
          const { data, meta } = await client.auditEntries.list({
            order: 'asc',
            limit: '100',
            ...(cursor === undefined ? {} : { cursor }),
          })
          for (const entry of data) lines.push(JSON.stringify(entry))
          last = data.at(-1) ?? last
          cursor = meta.next_cursor ?? undefined
          if (cursor !== undefined) ui.progress('Reading')(lines.length, 0)
        } while (cursor !== undefined)
        writeNew(file, lines.map((line) => `${line}\n`).join(''), force)
        return {
          data: { file, entries: lines.length, head: last?.hash ?? null },
          text: `Wrote ${lines.length} entries to ${file}.`,
        }
      },
    }),
  },
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
      return `${spaced(name.replace(LAMPORTS_FIELD, ''))} ${wholeOf(value, LAMPORT_DECIMALS)} SOL`.trimStart()
    })
    .join(', ')
}

const spaced = (name: string) => name.replaceAll('_', ' ')
const detailText = (value: unknown) =>
  typeof value === 'object' && value !== null ? `(${detailsText(value)})` : String(value)

/** Writes a file that only this user can read; an existing file is replaced only with `force`. */
function writeNew(file: string, text: string, force: boolean): void {
  try {
    // An overwritten file would keep its own mode, so it is removed first.
    if (force) rmSync(file, { force: true })
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw usage(`${file} is there already: replace it with --force`)
    throw usage(`${file} cannot be written: ${reason(error)}`)
  }
}
