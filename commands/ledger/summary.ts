/** `svc ledger summary`: what each party received and paid, by pool, mint, party, month or kind. */

import type { LedgerSum } from '../../src/api/ledger.ts'
import { LEDGER_GROUPS, LEDGER_KINDS, LEDGER_PARTIES } from '../../src/api/ledger-names.ts'
import { paths } from '../../src/api/paths.ts'
import {
  type CommandOutcome,
  choiceOf,
  type InputValues,
  integer,
  mintAddress,
  poolAddress,
  text,
  verb,
} from '../cli/command.ts'
import { readAllPages } from '../cli/pages.ts'
import { listOutcome } from '../cli/reads.ts'
import { counted } from '../ui/words.ts'
import { writeRows } from './csv.ts'
import { shownSum } from './entries.ts'

// The filters of entries, and those of sums.

export const MONTH = text('Only this month, UTC', {
  placeholder: '2026-11',
  conflicts: ['created_after', 'created_before'],
})

const totalFilterFlags = {
  pool: poolAddress('Only what belongs to this pool', { placeholder: 'ADDRESS' }),
  mint: mintAddress('Only this token: its mint or symbol, or SOL'),
  party: choiceOf(LEDGER_PARTIES, 'Only accounts of this party'),
  kind: choiceOf(LEDGER_KINDS, 'Only movements of this kind'),
}

export const ledgerFilterFlags = {
  ...totalFilterFlags,
  account: text('Only this wallet with its token accounts', { placeholder: 'ADDRESS' }),
  created_after: text('Only what took place after this moment, ISO 8601 or Unix seconds', { placeholder: 'TIME' }),
  created_before: text('Only what took place before this moment', { placeholder: 'TIME' }),
}

export type LedgerFilterValues = InputValues<typeof ledgerFilterFlags>

const SUM_COLUMNS = ['key', 'party', 'token', 'symbol', 'decimals', 'received', 'paid', 'net', 'entries'] as const
const SHOWN = ['key', 'party', 'token', 'received', 'paid', 'net', 'entries'] as const

export const summarizeLedger = verb({
  about: 'Add up the ledger by pool, mint, party, month or kind',
  details:
    'One row for each party and token of a group. The rows of a token add up to zero, because every movement has two sides; `--party` shows one of them.',
  calls: [paths.ledger.summary],
  flags: {
    by: choiceOf(LEDGER_GROUPS, 'What a group is (default month)'),
    month: MONTH,
    csv: text('Write CSV to this file (0600), or - for standard output', { placeholder: 'FILE' }),
    limit: integer('Rows on a page, 1 to 100 (default: all pages at once)', { min: 1, max: 100 }),
    cursor: text('Continue after the page whose next_cursor this is', { placeholder: 'CURSOR' }),
    ...totalFilterFlags,
  },
  examples: ['svc ledger summary --by month --party partner', 'svc ledger summary --by pool --csv pools.csv'],
  async run({ by, csv, limit, cursor, ...filters }, { client }) {
    const query = by === undefined ? filters : { ...filters, by }
    if (limit !== undefined || cursor !== undefined) {
      const paging = { limit: String(limit ?? 100), ...(cursor === undefined ? {} : { cursor }) }
      const { data, meta } = await client.ledger.summary({ ...query, ...paging })
      const more = meta.next_cursor === null ? [] : [`More: repeat with --cursor ${meta.next_cursor}`]
      return sumsOutcome(data, more)
    }
    const sums = await readAllPages((paging) => client.ledger.summary({ ...query, ...paging }))
    if (csv === undefined) return sumsOutcome(sums, [])
    const columns = [...SHOWN, 'mint', 'decimals', 'received_raw', 'paid_raw', 'net_raw']
    const raw = ({ token, decimals, received, paid, net }: LedgerSum) => [token, decimals, received, paid, net]
    await writeRows(csv, { columns, rows: sums, cells: (sum) => [...shownSum(sum), ...raw(sum)] })
    if (csv === '-') return { data: undefined, rows: { columns: [], rows: [] } }
    return { data: { file: csv, rows: sums.length }, text: `Wrote ${counted(sums.length, 'row')} to ${csv}.` }
  },
})

/** The table fits 80 columns in most months: a key that all rows share is a note, and the entries are left out. */
function sumsOutcome(sums: readonly LedgerSum[], notes: readonly string[]): CommandOutcome {
  const [first, ...others] = new Set(sums.map(({ key }) => key))
  const isShared = first !== undefined && others.length === 0
  const [from, to] = [isShared ? 1 : 0, SHOWN.length - 1]
  return {
    ...listOutcome(sums, SUM_COLUMNS, isShared ? [`All of ${first}.`, ...notes] : notes),
    ...(sums.length === 0
      ? {}
      : { table: { columns: SHOWN.slice(from, to), rows: sums.map((sum) => shownSum(sum).slice(from, to)) } }),
  }
}
