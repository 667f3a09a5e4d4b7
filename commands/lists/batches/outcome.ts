/** What became of every wallet of a list: as records, as a table of those not paid, and as a file. */
import { Amount, decimalOf } from '../../cli/amounts.ts'
import type { CommandOutcome } from '../../cli/command.ts'
import { writeRows } from '../../ledger/csv.ts'
import { EXIT } from '../../ui/problem.ts'
import { printable } from '../../ui/render.ts'
import { rowsOutcome } from '../outcome.ts'
import type { SendRow, WalletAct } from './act.ts'
import type { SentBatch } from './journal.ts'

const REPEATED =
  'Every wallet was paid earlier, and nobody now. A new list with the same amounts needs a journal of its own: --journal FILE --again'
const PAID: readonly SendRow['status'][] = ['sent', 'sent already', 'claimed']

export function batchesOutcome(
  { name, words: { done, list }, hasAmounts, token: { mint, decimals } }: WalletAct,
  rows: readonly SendRow[],
  { journal, out, notes }: { journal: string; out: string | undefined; notes: readonly string[] },
): CommandOutcome {
  const isSend = name === 'send'
  const open = isSend ? 'to send' : 'to do'
  const words: Partial<Record<SendRow['status'], string>> = {
    sent: done,
    'sent already': `${done} already`,
    'to send': open,
  }
  const wordOf = ({ status }: SendRow) => words[status] ?? status
  const isPaid = ({ status }: SendRow) => PAID.includes(status)
  const paid = rows.reduce((sum, { status, amount }) => (status.startsWith('sent') ? sum + amount : sum), 0n)
  // Whoever overwrites a file with the same amounts each month must see that nobody was paid for it.
  const isRepeated = isSend && rows.length > 0 && rows.every(({ status }) => status === 'sent already')
  const outcome = rowsOutcome({
    rows,
    journal,
    fields: hasAmounts ? { mint, amount: String(paid) } : { mint },
    statuses: [
      ['sent', done, done],
      ['sent already', `${done}_already`, `${done} already`],
      ...(isSend ? ([['claimed', 'claimed', 'have claimed']] as const) : []),
      ['to send', open.replace(' ', '_'), open],
      ...(['left out', 'unknown', 'failed'] as const),
    ],
    records: [
      list,
      (row) => {
        const { wallet, amount, note, signature } = row
        return { wallet, ...(hasAmounts ? { amount: String(amount) } : {}), status: wordOf(row), note, signature }
      },
    ],
    columns: ['wallet', ...(hasAmounts ? ['amount'] : []), 'status', 'signature'],
    cells: (row) => [row.wallet, ...(hasAmounts ? [new Amount(row.amount, decimals)] : []), wordOf(row), row.signature],
    noteOf: (row) => (row.note === null || isPaid(row) ? null : leftOutLine(row.wallet, row.note)),
    ...(isSend ? { allNotes: '--out FILE has them all' } : {}),
    notes: [
      ...(out === undefined || out === '-' ? [] : [`Every wallet with its signature: ${out}`]),
      ...notes,
      ...(isRepeated ? [REPEATED] : []),
    ],
    isDone: rows.every((row) => isPaid(row) || (hasAmounts && row.amount === 0n)),
  })
  return notes.length > 0 ? { ...outcome, exitCode: EXIT.done } : outcome
}

export const leftOutLine = (wallet: string, note: string) =>
  printable(note.includes(wallet) ? note : `${wallet}: ${note}`)

/** The units of a receipt: those in which the list was read, so that the same flags read it again. */
interface ReceiptUnits {
  decimals: number
  /** Whether the amounts of the list are raw units. */
  isRaw?: boolean | undefined
}

/** Writes every wallet with its amount, what became of it, and its transaction. */
export function writeSentRows(file: string, rows: readonly SendRow[], units: ReceiptUnits): Promise<void> {
  const { decimals, isRaw = false } = units
  const columns = ['wallet', isRaw ? 'amount_raw' : 'amount', 'status', 'signature', 'note']
  const cells = ({ wallet, amount, status, signature, note }: SendRow) => {
    return [wallet, decimalOf(amount, isRaw ? 0 : decimals), status, signature, note]
  }
  return writeRows(file, { columns, rows, cells })
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
