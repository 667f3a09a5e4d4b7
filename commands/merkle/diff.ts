/** `svc merkle diff`: wallets added, removed and changed between two lists or trees. */
import { existsSync } from 'node:fs'
import { paths } from '../../src/api/paths.ts'
import { MAX_DECIMALS } from '../../src/merkle/amounts.ts'
import { diffLists } from '../../src/merkle/diff.ts'
import { type EntryList, type ListEntry, totalAmount } from '../../src/merkle/entry-list.ts'
import { recipientRoot } from '../../src/merkle/recipient-tree.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { decimalOf } from '../amounts.ts'
import { type CommandOutcome, type Rows, required, text, toggle, verb } from '../command.ts'
import type { Session } from '../session.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { type CsvChoices, csvFlags, readRecipients } from './recipients.ts'
import { fetchStoredList } from './stored-list.ts'

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
}

export const diff = verb({
  about: 'Show wallets added, removed and changed between two lists or trees',
  details: 'A and B are CSVs, files of `svc merkle build --out`, or ids of stored trees.',
  calls: [paths.merkleTrees.get, paths.merkleTrees.entries],
  args: { a: required(text('The earlier list')), b: required(text('The later list')) },
  flags: {
    ...csvFlags,
    before_decimals: text('Decimals of the CSV A where they are others than those of B, or raw', { placeholder: 'N' }),
    exit_code: toggle('Exit 1 when the roots differ'),
  },
  examples: ['svc merkle diff old.csv new.csv --exit-code', 'svc merkle diff TREE_ID recipients.csv'],
  async run({ a, b, before_decimals, exit_code, ...csv }, session) {
    if (a === '-' && b === '-') throw usage('only one of the two lists can come from standard input')
    const decimals = before_decimals === undefined ? csv.decimals : beforeDecimals(before_decimals)
    const before = await readSide(a, { ...csv, decimals }, session)
    const after = await readSide(b, csv, session)
    // With two different decimals, whole tokens would hide the differences, so raw units are shown.
    const shown = decimals === csv.decimals ? csv.decimals : undefined
    return diffOutcome(listSummary(a, before), listSummary(b, after), compareLists(before, after), {
      exit_code,
      decimals: shown,
    })
  },
})

/** The decimals of the CSV A; undefined for raw units, as without --decimals. */
function beforeDecimals(typed: string): number | undefined {
  if (typed === 'raw') return undefined
  if (/^\d{1,2}$/.test(typed) && Number(typed) <= MAX_DECIMALS) return Number(typed)
  throw usage(`--before-decimals must be a number from 0 to ${MAX_DECIMALS}, or raw, not "${typed}"`, {
    param: '--before-decimals',
  })
}

/** Whether the argument is the id of a stored tree; a file of that name takes precedence. */
const isStored = (source: string) => decodeTreeId(source) !== undefined && !existsSync(source)

async function readSide(source: string, csv: CsvChoices, session: Session): Promise<EntryList> {
  if (!isStored(source)) return (await readRecipients(source, csv, session.ui)).list
  const { data: tree } = await session.client.merkleTrees.get({ id: source })
  return fetchStoredList(session, source, tree.leaf_count)
}

export function compareLists(before: EntryList, after: EntryList): ListComparison {
  const { added, removed, changed, unchanged, reordered } = diffLists(before, after)
  const plain = ({ wallet, amount, locked }: ListEntry) => ({
    wallet,
    amount: String(amount),
    amount_locked: String(locked),
  })
  return {
    added: added.map(plain),
    removed: removed.map(plain),
    changed: changed.map(({ wallet, before, after, lockedBefore, lockedAfter }) => ({
      wallet,
      before: String(before),
      after: String(after),
      before_locked: String(lockedBefore),
      after_locked: String(lockedAfter),
    })),
    unchanged,
    reordered,
  }
}

function listSummary(source: string, list: EntryList): ListSummary {
  return {
    source,
    root: toHex(recipientRoot(list)),
    leaf_count: list.count,
    total: String(totalAmount(list)),
  }
}

interface DiffOptions {
  exit_code: boolean
  /** The decimals of both sides; undefined shows raw units. */
  decimals: number | undefined
}

function diffOutcome(
  before: ListSummary,
  after: ListSummary,
  comparison: ListComparison,
  { exit_code, decimals }: DiffOptions,
): CommandOutcome {
  const { added, removed, changed, unchanged, reordered } = comparison
  const same = before.root === after.root
  const summary = `${added.length} added, ${removed.length} removed, ${changed.length} changed, ${unchanged} unchanged`
  return {
    data: { same, ...comparison, before, after },
    rows: differenceRows(comparison),
    table: differenceRows(comparison, decimals),
    notes: [
      `${summary}; total ${amountText(before.total, decimals)} → ${amountText(after.total, decimals)}${decimals === undefined ? ' raw units' : ''}`,
      ...(reordered ? ['The wallets in both stand in another order, which changes the root too.'] : []),
      same ? `Same root: ${before.root}` : `Root ${before.root} → ${after.root}`,
    ],
    exitCode: exit_code && !same ? EXIT.failed : EXIT.done,
  }
}

/** One row for each wallet that differs; amounts are in whole tokens where the decimals are known. */
export function differenceRows({ removed, changed, added }: ListComparison, decimals?: number): Rows {
  // A locked part stands behind a plus, and a list without any shows none.
  const shown = (amount: string, locked: string) =>
    locked === '0' ? amountText(amount, decimals) : `${amountText(amount, decimals)} + ${amountText(locked, decimals)}`
  return {
    columns: ['', 'wallet', 'before', 'after'],
    rows: [
      ...removed.map(({ wallet, amount, amount_locked }) => ['-', wallet, shown(amount, amount_locked), null]),
      ...changed.map(({ wallet, before, after, before_locked, after_locked }) => [
        '~',
        wallet,
        shown(before, before_locked),
        shown(after, after_locked),
      ]),
      ...added.map(({ wallet, amount, amount_locked }) => ['+', wallet, null, shown(amount, amount_locked)]),
    ],
  }
}

const amountText = (raw: string, decimals: number | undefined) =>
  decimals === undefined ? raw : decimalOf(BigInt(raw), decimals)
