/** What became of every wallet of a list that was sent: as records, as a table of those not paid, and as a file. */
import { decimalOf } from '../../amounts.ts'
import type { CommandOutcome } from '../../command.ts'
import { csvLine, writePieces } from '../../ledger/csv.ts'
import { EXIT } from '../../ui/problem.ts'
import { printable } from '../../ui/render.ts'
import type { SendRow } from './rows.ts'

/** The most rows that a terminal lists; of a longer list only counts and whom it left out are shown. */
const MOST_LISTED = 40
const PAID: readonly SendRow['status'][] = ['sent', 'sent already', 'claimed']

interface SentList {
  list: { name: string; mint: string }
  journal: string
  decimals: number
  out: string | undefined
}

export function sendOutcome(
  rows: readonly SendRow[],
  { list, journal, decimals, out }: SentList,
  notes: readonly string[],
): CommandOutcome {
  const of = (status: SendRow['status']) => rows.filter((row) => row.status === status)
  const [sent, already, claimed, left, unknown, failed, open] = (
    ['sent', 'sent already', 'claimed', 'left out', 'unknown', 'failed', 'to send'] as const
  ).map(of) as [SendRow[], SendRow[], SendRow[], SendRow[], SendRow[], SendRow[], SendRow[]]
  const unpaid = rows.filter(({ status, amount }) => !PAID.includes(status) && amount > 0n)
  const parts = [
    `${sent.length} sent`,
    ...(already.length === 0 ? [] : [`${already.length} sent already`]),
    ...(claimed.length === 0 ? [] : [`${claimed.length} have claimed`]),
    ...(open.length === 0 ? [] : [`${open.length} to send`]),
    ...(left.length === 0 ? [] : [`${left.length} left out`]),
    ...(unknown.length === 0 ? [] : [`${unknown.length} not known`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed: run the same command again for what is left`]),
  ]
  const total = rows.reduce((sum, { status, amount }) => (status.startsWith('sent') ? sum + amount : sum), 0n)
  const said = rows.filter(({ note, status }) => note !== null && !PAID.includes(status))
  return {
    data: {
      mint: list.mint,
      journal,
      total: rows.length,
      sent: sent.length,
      sent_already: already.length,
      claimed: claimed.length,
      left_out: left.length,
      unknown: unknown.length,
      failed: failed.length,
      to_send: open.length,
      amount: String(total),
      recipients: rows.map(({ wallet, amount, status, note, signature }) => ({
        wallet,
        amount: String(amount),
        status,
        note,
        signature,
      })),
    },
    rows: {
      columns: ['wallet', 'amount', 'status', 'signature'],
      rows: rows.map(({ wallet, amount, status, signature }) => [
        wallet,
        decimalOf(amount, decimals),
        status,
        signature,
      ]),
    },
    ...(rows.length > MOST_LISTED ? { text: `${parts.join(', ')} of ${rows.length}` } : {}),
    notes: [
      ...said.slice(0, MOST_LISTED).map(({ wallet, note }) => leftOutLine(wallet, note ?? '')),
      ...(said.length > MOST_LISTED ? [`… and ${said.length - MOST_LISTED} more: --out FILE has them all`] : []),
      `${rows.length > MOST_LISTED ? '' : `${parts.join(', ')} of ${rows.length}. `}Journal: ${journal}`,
      ...(out === undefined || out === '-' ? [] : [`Every wallet with its signature: ${out}`]),
      ...notes,
    ],
    exitCode: unpaid.length === 0 ? EXIT.done : EXIT.failed,
  }
}

const leftOutLine = (wallet: string, note: string) => printable(note.includes(wallet) ? note : `${wallet}: ${note}`)

/** Writes every wallet with its amount in raw units, what became of it, and its transaction. */
export const writeSentRows = (file: string, rows: readonly SendRow[]): Promise<void> =>
  writePieces(file, sentLines(rows))

async function* sentLines(rows: readonly SendRow[]): AsyncGenerator<string> {
  yield csvLine(['wallet', 'amount', 'status', 'signature', 'note'])
  for (const { wallet, amount, status, signature, note } of rows) {
    yield csvLine([wallet, String(amount), status, signature, note])
  }
}
