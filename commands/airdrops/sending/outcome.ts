/** What became of every wallet of a list that was sent: as records, as a table of those not paid, and as a file. */
import { Amount, decimalOf } from '../../cli/amounts.ts'
import type { CommandOutcome } from '../../cli/command.ts'
import { csvLine, writePieces } from '../../ledger/csv.ts'
import { FAILED_WORDS, rowsOutcome } from '../../lists/outcome.ts'
import { printable } from '../../ui/render.ts'
import type { SentBatch } from './journal.ts'
import type { SendRow } from './rows.ts'

const PAID: readonly SendRow['status'][] = ['sent', 'sent already', 'claimed']

interface SentList {
  mint: string
  journal: string
  decimals: number
  out: string | undefined
}

export function sendOutcome(
  rows: readonly SendRow[],
  { mint, journal, decimals, out }: SentList,
  notes: readonly string[],
): CommandOutcome {
  const isUnpaid = ({ status }: SendRow) => !PAID.includes(status)
  const paid = rows.reduce((sum, { status, amount }) => (status.startsWith('sent') ? sum + amount : sum), 0n)
  return rowsOutcome({
    rows,
    journal,
    fields: { mint, amount: String(paid) },
    statuses: [
      ['sent', 'sent', 'sent'],
      ['sent already', 'sent_already', 'sent already'],
      ['claimed', 'claimed', 'have claimed'],
      ['to send', 'to_send', 'to send'],
      ['left out', 'left_out', 'left out'],
      ['unknown', 'unknown', 'not known'],
      ['failed', 'failed', FAILED_WORDS],
    ],
    records: [
      'recipients',
      ({ wallet, amount, status, note, signature }) => ({ wallet, amount: String(amount), status, note, signature }),
    ],
    columns: ['wallet', 'amount', 'status', 'signature'],
    cells: ({ wallet, amount, status, signature }) => [wallet, new Amount(amount, decimals), status, signature],
    noteOf: (row) => (row.note !== null && isUnpaid(row) ? leftOutLine(row.wallet, row.note) : null),
    allNotes: '--out FILE has them all',
    isLong: true,
    notes: [...(out === undefined || out === '-' ? [] : [`Every wallet with its signature: ${out}`]), ...notes],
    isDone: !rows.some((row) => isUnpaid(row) && row.amount > 0n),
  })
}

export const leftOutLine = (wallet: string, note: string) =>
  printable(note.includes(wallet) ? note : `${wallet}: ${note}`)

/** The units of a receipt: those in which the list was read, so that the same flags read it again. */
export interface ReceiptUnits {
  decimals: number
  /** Whether the amounts of the list are raw units. */
  isRaw?: boolean | undefined
}

/** Writes every wallet with its amount, what became of it, and its transaction. */
export const writeSentRows = (file: string, rows: readonly SendRow[], units: ReceiptUnits): Promise<void> =>
  writePieces(file, sentLines(rows, units))

async function* sentLines(rows: readonly SendRow[], { decimals, isRaw = false }: ReceiptUnits): AsyncGenerator<string> {
  yield csvLine(['wallet', isRaw ? 'amount_raw' : 'amount', 'status', 'signature', 'note'])
  for (const { wallet, amount, status, signature, note } of rows) {
    yield csvLine([wallet, decimalOf(amount, isRaw ? 0 : decimals), status, signature, note])
  }
}

/** The rows, those that may still land as not known: a receipt that called them unpaid would pay them again. */
export function rowsAsKnown(rows: readonly SendRow[], open: readonly SentBatch[]): SendRow[] {
  const sent = new Map(
    open.flatMap(({ recipients, sending }) => recipients.map(([wallet]) => [wallet, sending.signature])),
  )
  return rows.map((row) => {
    if (PAID.includes(row.status) || !sent.has(row.wallet)) return row
    const note = row.note ?? 'its transaction may still land'
    return { ...row, status: 'unknown', signature: sent.get(row.wallet) ?? null, note }
  })
}
