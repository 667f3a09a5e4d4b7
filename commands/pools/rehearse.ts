/** `svc pools create --rehearse`: shows what a launch and all that follows it would do, run on a copy of the cluster. */
import type { PoolRehearsal, RehearsalBook, RehearsalStep } from '../../src/api/pool-rehearsals.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { termsField } from '../signing/flags.ts'
import { signerAddress } from '../signing/platform-wallet.ts'
import { previewLine } from '../signing/preview.ts'
import { EXIT } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import type { PoolBody } from './launch-body.ts'
import type { CreateFlags } from './launch-flags.ts'

const STEP_COLUMNS = ['step', 'status', 'bytes', 'units', 'fee'] as const
const BOOK_COLUMNS = ['party', 'address', 'sol', 'quote', 'base'] as const

/** Who would launch: the platform wallet with --signed, else the wallet of the flags; its key is not needed. */
async function rehearsedCreator(session: Session, input: CreateFlags): Promise<string> {
  return signerAddress(session, { ...input, dry_run: true })
}

export async function rehearseBody(
  { client }: Session,
  input: CreateFlags,
  body: PoolBody & { creator: string },
): Promise<PoolRehearsal> {
  const mode = input.signed ? { mode: 'signed' as const } : {}
  return (await client.pools.rehearse({ ...body, ...termsField(input), ...mode })).data
}

export async function showRehearsal(session: Session, input: CreateFlags, body: PoolBody): Promise<CommandOutcome> {
  const creator = await rehearsedCreator(session, input)
  session.ui.waiting('rehearsing')
  const data = await rehearseBody(session, input, { ...body, creator }).finally(() => session.ui.waiting(null))
  return {
    data,
    rows: {
      columns: BOOK_COLUMNS,
      rows: data.books.map((book) => BOOK_COLUMNS.map((column) => bookCell(book, column))),
    },
    table: { columns: STEP_COLUMNS, rows: data.steps.map(stepCells) },
    text: [...reasonLines(data.steps), '', ...costLines(data), '', ...bookLines(data)].join('\n'),
    notes: ['Run on a copy of the cluster: nothing was signed, sent or stored.'],
    exitCode: data.succeeded ? EXIT.done : EXIT.failed,
  }
}

const bookCell = (book: RehearsalBook, column: (typeof BOOK_COLUMNS)[number]) => book[column]

const stepCells = ({ label, status, bytes, compute_units, fee }: RehearsalStep) => [
  label,
  status,
  bytes,
  compute_units,
  fee === null ? null : `${solOf(BigInt(fee))} SOL`,
]

/** Why steps failed, with the way out, and why others were left out. */
export function reasonLines(steps: readonly RehearsalStep[]): string[] {
  const told = steps.filter(({ status, reason }) => status === 'failed' && reason !== null)
  return told.flatMap(({ label, reason, hint }) => [
    `${label}: ${printable(reason ?? '')}`,
    ...(hint === null ? [] : [`  ${printable(hint)}`]),
  ])
}

function costLines({ cost, quote }: PoolRehearsal): string[] {
  const sol = (lamports: string) => `${solOf(BigInt(lamports))} SOL`
  const unit = isSol(quote.mint) ? 'SOL' : `of ${quote.mint}`
  return [
    `The launch takes ${sol(cost.total)} from its creator`,
    previewLine('first buy', `${groupedDecimalOf(BigInt(cost.first_buy), quote.decimals)} ${unit}`),
    previewLine('rent', `${sol(cost.rent)}, of which ${sol(cost.rent_returning)} can return`),
    previewLine('fees', sol(cost.network_fees)),
    ...(cost.tip === '0' ? [] : [previewLine('tip', sol(cost.tip))]),
  ]
}

const isSol = (mint: string) => mint === WRAPPED_SOL

/** What each party paid and received, in columns; after each name the other roles of its address. */
function bookLines({ books, quote, base, symbol }: PoolRehearsal): string[] {
  const hasQuote = !isSol(quote.mint)
  const cells = books.map(({ party, roles, sol, quote: quoted, base: tokens }) => [
    [party, ...roles.filter((role) => role !== party)].join(', '),
    signed(sol, LAMPORT_DECIMALS),
    ...(hasQuote ? [signed(quoted ?? '0', quote.decimals)] : []),
    signed(tokens, base.decimals),
  ])
  const headings = ['At the end', 'SOL', ...(hasQuote ? ['quote'] : []), symbol]
  const widths = headings.map((heading, i) => Math.max(heading.length, ...cells.map((row) => (row[i] ?? '').length)))
  return [headings, ...cells].map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

function signed(raw: string, decimals: number): string {
  const amount = BigInt(raw)
  if (amount === 0n) return '0'
  return `${amount > 0n ? '+' : ''}${groupedDecimalOf(amount, decimals)}`
}
