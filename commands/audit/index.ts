/** `svc audit`: every signature of the platform wallet and every change of its policy, of API keys and of fee schedules, in a verifiable log. */

import { AUDIT_ACTIONS } from '../../src/api/audit-actions.ts'
import type { AuditEntry, AuditVerification } from '../../src/api/audit-entries.ts'
import { paths } from '../../src/api/paths.ts'
import { Amount, LAMPORT_DECIMALS, wholeOf } from '../cli/amounts.ts'
import { type CommandOutcome, choiceOf, type Noun, type Rows, required, text, toggle, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { cut } from './cut.ts'
import { exportEntries, verifyFile } from './exported-file.ts'

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
