/** `svc ledger export`: the entries of a month or of all time as a file for accountants. */

import type { LedgerEntry } from '../../src/api/ledger.ts'
import { paths } from '../../src/api/paths.ts'
import { choiceOf, required, text, verb } from '../cli/command.ts'
import { MOST_STEPS, type PageQuery, pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import { jsonText } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { csvLine, writePieces } from './csv.ts'
import { pricedValue, rangeOf, wholeAmount } from './entries.ts'
import { type LedgerFilterValues, ledgerFilterFlags, MONTH } from './filters.ts'

const CSV_COLUMNS = [
  ...['date', 'signature', 'account', 'owner', 'party', 'kind', 'detail', 'token', 'symbol', 'amount', 'amount_raw'],
  ...['decimals', 'price', 'currency', 'value', 'counterparty', 'pool', 'slot'],
] as const

const csvCells = (entry: LedgerEntry) => [
  ...[entry.occurred_at, entry.signature, entry.account, entry.owner, entry.party, entry.kind, entry.detail],
  ...[entry.token, entry.symbol, wholeAmount(entry), entry.amount, entry.decimals, entry.price, entry.price_currency],
  ...[pricedValue(entry), entry.counterparty, entry.pool, entry.slot],
]

export const exportLedger = verb({
  about: 'Write the ledger for accountants, as CSV or JSON lines',
  details:
    'Newest entries come first; dates are UTC. Amounts are in whole tokens and in raw units. A value is the amount at the price that was stored with it. Text that a spreadsheet would compute gets a leading apostrophe.',
  calls: [paths.ledger.list],
  flags: {
    format: choiceOf(['csv', 'json'], 'Form of the file (default csv)', { json: 'one JSON object a line' }),
    month: MONTH,
    out: required(text('File to write (0600), or - for standard output', { placeholder: 'FILE' })),
    ...ledgerFilterFlags,
  },
  examples: ['svc ledger export --month 2026-11 --out november.csv', 'svc ledger export --format json --out -'],
  async run({ format = 'csv', out, ...filters }, session) {
    const written = { entries: 0 }
    const query = rangeOf(filters) as LedgerFilterValues
    await writePieces(out, pieces(session, query, format, written))
    if (out === '-') return { data: undefined, rows: { columns: [], rows: [] } }
    return {
      data: { file: out, format, ...written },
      text: `Wrote ${counted(written.entries, 'entry', 'entries')} to ${out}.`,
    }
  },
})

async function* pieces(
  { client, ui }: Pick<Session, 'client' | 'ui'>,
  filters: LedgerFilterValues,
  format: 'csv' | 'json',
  written: { entries: number },
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(CSV_COLUMNS)
  const list = (paging: PageQuery) => client.ledger.list({ ...filters, ...paging })
  for await (const { data: entries } of pagesOf(list, { most: MOST_STEPS })) {
    written.entries += entries.length
    ui.progress('Reading')(written.entries, 0)
    yield entries.map((entry) => (format === 'csv' ? csvLine(csvCells(entry)) : `${jsonText(entry, 0)}\n`)).join('')
  }
}
