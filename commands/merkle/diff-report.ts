/** Reports the differences between two lists, the largest first: as rows, as CSV and as Markdown for a review. */
import { Amount, decimalOf } from '../cli/amounts.ts'
import type { Rows } from '../cli/command.ts'
import { type CsvCell, writeRows } from '../ledger/csv.ts'
import { printable } from '../ui/render.ts'

/** The differences between two lists; amounts are raw units. */
export interface ListComparison {
  added: ListedAmounts[]
  removed: ListedAmounts[]
  changed: { wallet: string; before: string; after: string; before_locked: string; after_locked: string }[]
  unchanged: number
  reordered: boolean
}
interface ListedAmounts {
  wallet: string
  amount: string
  amount_locked: string
}
export interface ListSummary {
  source: string
  root: string
  leaf_count: number
  total: string
  total_locked: string
}

/** What a wallet can claim at once and what is locked, in raw units. */
interface Parts {
  amount: bigint
  locked: bigint
}

interface Difference {
  sign: '-' | '~' | '+'
  wallet: string
  before: Parts | null
  after: Parts | null
  /** What the wallet gets more or less in all, in raw units. */
  change: bigint
}

/** Rows of differences in Markdown; comments and summaries of jobs have little room. */
const MARKDOWN_ROWS = 100

const size = (parts: Parts | null) => (parts === null ? 0n : parts.amount + parts.locked)
const magnitude = ({ change }: Difference) => (change < 0n ? -change : change)

/** Returns every wallet that differs, the one with the largest change first, those with equal ones by their address. */
export function differencesOf({ removed, changed, added }: ListComparison): Difference[] {
  const parts = (amount: string, locked: string): Parts => ({ amount: BigInt(amount), locked: BigInt(locked) })
  const difference = (sign: Difference['sign'], wallet: string, before: Parts | null, after: Parts | null) => ({
    sign,
    wallet,
    before,
    after,
    change: size(after) - size(before),
  })
  const found = [
    ...removed.map(({ wallet, amount, amount_locked }) => difference('-', wallet, parts(amount, amount_locked), null)),
    ...changed.map(({ wallet, before, after, before_locked, after_locked }) =>
      difference('~', wallet, parts(before, before_locked), parts(after, after_locked)),
    ),
    ...added.map(({ wallet, amount, amount_locked }) => difference('+', wallet, null, parts(amount, amount_locked))),
  ]
  return found.sort((one, other) => {
    const [a, b] = [magnitude(one), magnitude(other)]
    return a === b ? (one.wallet < other.wallet ? -1 : 1) : a > b ? -1 : 1
  })
}

/** Raw units as whole tokens, if the decimals are known. */
export const amountText = (raw: bigint, decimals: number | undefined): string =>
  decimals === undefined ? String(raw) : decimalOf(raw, decimals)

const changeText = (change: bigint, decimals: number | undefined) =>
  `${change > 0n ? '+' : ''}${amountText(change, decimals)}`

/** A locked part follows a plus; a list without locked amounts shows none. */
function partsCell(parts: Parts | null, decimals = 0): Amount | string | null {
  if (parts === null) return null
  const { amount, locked } = parts
  return locked === 0n
    ? new Amount(amount, decimals)
    : `${amountText(amount, decimals)} + ${amountText(locked, decimals)}`
}

/** One row for each wallet that differs; amounts are in whole tokens if the decimals are known. */
export const differenceRows = (differences: readonly Difference[], decimals?: number): Rows => ({
  columns: ['', 'wallet', 'before', 'after'],
  rows: differences.map(({ sign, wallet, before, after }) => [
    ...[sign, wallet, partsCell(before, decimals), partsCell(after, decimals)],
  ]),
})

const NAMES = { '-': 'removed', '~': 'changed', '+': 'added' } as const

/** Writes all differences as CSV. */
export function writeDifferences(
  file: string,
  differences: readonly Difference[],
  decimals: number | undefined,
): Promise<void> {
  const text = (raw: bigint | undefined) => (raw === undefined ? null : amountText(raw, decimals))
  const cells = ({ sign, wallet, before, after, change }: Difference): CsvCell[] => [
    ...[NAMES[sign], wallet, text(before?.amount), text(before?.locked), text(after?.amount)],
    ...[text(after?.locked), amountText(change, decimals)],
  ]
  const columns = ['difference', 'wallet', 'before', 'before_locked', 'after', 'after_locked', 'change']
  return writeRows(file, { columns, rows: differences, cells })
}

export interface MarkdownReport {
  before: ListSummary
  after: ListSummary
  comparison: ListComparison
  differences: readonly Difference[]
  decimals: number | undefined
}

/** Both lists side by side and the largest differences, as GitHub and GitLab show them. */
export function differenceMarkdown({ before, after, comparison, differences, decimals }: MarkdownReport): string {
  const { added, removed, changed, unchanged, reordered } = comparison
  const unit = decimals === undefined ? 'raw units' : 'tokens'
  const sum = (name: string, one: bigint, other: bigint) =>
    row([name, amountText(one, decimals), amountText(other, decimals), changeText(other - one, decimals)])
  const hasLocked = before.total_locked !== '0' || after.total_locked !== '0'
  const wallets = after.leaf_count - before.leaf_count
  const hidden = differences.length - MARKDOWN_ROWS
  return `${[
    row(['', 'Before', 'After', 'Change']),
    row(['---', '---:', '---:', '---:']),
    row(['List', clean(before.source), clean(after.source), '']),
    row(['Wallets', String(before.leaf_count), String(after.leaf_count), `${wallets > 0 ? '+' : ''}${wallets}`]),
    sum(`Total, ${unit}`, BigInt(before.total), BigInt(after.total)),
    ...(hasLocked ? [sum('of it locked', BigInt(before.total_locked), BigInt(after.total_locked))] : []),
    row(['Root', `\`${before.root}\``, `\`${after.root}\``, before.root === after.root ? 'none' : 'another']),
    '',
    `${added.length} added, ${removed.length} removed, ${changed.length} changed, ${unchanged} unchanged.`,
    ...(reordered ? ['', 'The wallets in both have another order, which changes the root too.'] : []),
    ...(differences.length === 0
      ? []
      : ['', row(['', 'Wallet', 'Before', 'After', 'Change']), row(['---', '---', '---:', '---:', '---:'])]),
    ...differences
      .slice(0, MARKDOWN_ROWS)
      .map(({ sign, wallet, before, after, change }) =>
        row([
          ...[
            NAMES[sign],
            `\`${wallet}\``,
            String(partsCell(before, decimals) ?? ''),
            String(partsCell(after, decimals) ?? ''),
          ],
          changeText(change, decimals),
        ]),
      ),
    ...(hidden > 0 ? ['', `… and ${hidden} more, each with a smaller or an equal change.`] : []),
  ].join('\n')}\n`
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** In a pull request a stranger may choose the name of a list: it is shown literally, without markup or mentions. */
const clean = (text: string): string =>
  printable(text).replace(/[^\p{L}\p{N} /]/gu, (sign) => `&#${sign.codePointAt(0)};`)
