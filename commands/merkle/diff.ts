/** `svc merkle diff`: wallets added, removed and changed between two lists or trees. */
import { existsSync } from 'node:fs'
import { paths } from '../../src/api/paths.ts'
import { diffLists } from '../../src/merkle/diff.ts'
import { type EntryList, totalAmount } from '../../src/merkle/entry-list.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { flag, type Outcome, type Rows, required, type Session, text, verb } from '../command.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { type CsvChoices, csvFlags, readRecipients } from './recipients.ts'
import { readStoredList } from './stored-list.ts'

/** What differs; amounts are raw units. */
export interface Comparison {
  added: { wallet: string; amount: string }[]
  removed: { wallet: string; amount: string }[]
  changed: { wallet: string; before: string; after: string }[]
  unchanged: number
  reordered: boolean
}
export interface Side {
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
  flags: { ...csvFlags, exit_code: flag('Exit 1 when the roots differ') },
  examples: ['svc merkle diff old.csv new.csv --exit-code', 'svc merkle diff TREE_ID recipients.csv'],
  async run({ a, b, exit_code, ...csv }, session) {
    if (a === '-' && b === '-') throw usage('only one of the two lists can come from standard input')
    const before = await readSide(a, csv, session)
    const after = await readSide(b, csv, session)
    return outcome(sideOf(a, before), sideOf(b, after), compare(before, after), exit_code)
  },
})

/** A file of that name wins. */
const isStored = (given: string) => decodeTreeId(given) !== undefined && !existsSync(given)

async function readSide(given: string, csv: CsvChoices, session: Session): Promise<EntryList> {
  if (!isStored(given)) return (await readRecipients(given, csv, session.ui)).list
  const { data: tree } = await session.client.merkleTrees.get({ id: given })
  return readStoredList(session, given, tree.leaf_count)
}

export function compare(before: EntryList, after: EntryList): Comparison {
  const { added, removed, changed, unchanged, reordered } = diffLists(before, after)
  const plain = ({ wallet, amount }: { wallet: string; amount: bigint }) => ({ wallet, amount: String(amount) })
  return {
    added: added.map(plain),
    removed: removed.map(plain),
    changed: changed.map(({ wallet, before, after }) => ({ wallet, before: String(before), after: String(after) })),
    unchanged,
    reordered,
  }
}

function sideOf(source: string, list: EntryList): Side {
  return {
    source,
    root: toHex(buildTree(list).root),
    leaf_count: list.count,
    total: String(totalAmount(list)),
  }
}

function outcome(before: Side, after: Side, comparison: Comparison, exitCode: boolean): Outcome {
  const { added, removed, changed, unchanged, reordered } = comparison
  const same = before.root === after.root
  const summary = `${added.length} added, ${removed.length} removed, ${changed.length} changed, ${unchanged} unchanged`
  return {
    data: { same, ...comparison, before, after },
    rows: differenceRows(comparison),
    notes: [
      `${summary}; total ${before.total} → ${after.total}`,
      ...(reordered ? ['The wallets in both stand in another order, which changes the root too.'] : []),
      same ? `Same root: ${before.root}` : `Root ${before.root} → ${after.root}`,
    ],
    exitCode: exitCode && !same ? EXIT.failed : EXIT.done,
  }
}

/** One row for each wallet that is not the same in both. */
export const differenceRows = ({ removed, changed, added }: Comparison): Rows => ({
  columns: ['', 'wallet', 'before', 'after'],
  rows: [
    ...removed.map(({ wallet, amount }) => ['-', wallet, amount, null]),
    ...changed.map(({ wallet, before, after }) => ['~', wallet, before, after]),
    ...added.map(({ wallet, amount }) => ['+', wallet, null, amount]),
  ],
})
