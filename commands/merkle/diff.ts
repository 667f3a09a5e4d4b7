/** `svc merkle diff`: wallets added, removed and changed between two lists or trees. */
import { existsSync } from 'node:fs'
import { paths } from '../../src/api/paths.ts'
import { diffLists } from '../../src/merkle/diff.ts'
import { type EntryList, listHash, totalAmount } from '../../src/merkle/entry-list.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { flag, type Outcome, required, type Session, text, verb } from '../command.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { type CsvChoices, csvFlags, readRecipients } from './recipients.ts'
import { compareWithStored } from './stored-diff.ts'

/** What differs; amounts are raw units. */
export interface Comparison {
  added: { wallet: string; amount: string }[]
  removed: { wallet: string; amount: string }[]
  changed: { wallet: string; before: string; after: string }[]
  unchanged: number
  reordered: boolean
  /** Wallets that only the stored tree has: the API counts them and does not name them. */
  unnamed: number
}
export interface Side {
  source: string
  stored: boolean
  root: string
  leaf_count: number
  total: string
}

export const diff = verb({
  about: 'Show wallets added, removed and changed between two lists or trees',
  details: 'A and B are CSVs, files of `svc merkle build --out`, or ids of stored trees (one of the two).',
  calls: [paths.merkleTrees.get, paths.merkleTrees.proof],
  args: { a: required(text('The earlier list')), b: required(text('The later list')) },
  flags: { ...csvFlags, exit_code: flag('Exit 1 when the roots differ') },
  examples: ['svc merkle diff old.csv new.csv --exit-code', 'svc merkle diff TREE_ID recipients.csv'],
  async run({ a, b, exit_code, ...csv }, session) {
    if (a === '-' && b === '-') throw usage('only one of the two lists can come from standard input')
    if (isStored(a) && isStored(b)) {
      throw usage('two stored trees cannot be compared wallet by wallet', { next: 'give the CSV of one of them' })
    }
    const { before, after, comparison } =
      isStored(a) || isStored(b) ? await withStored(a, b, csv, session) : await lists(a, b, csv, session)
    return outcome(before, after, comparison, exit_code)
  },
})

/** A file of that name wins. */
const isStored = (given: string) => decodeTreeId(given) !== undefined && !existsSync(given)

interface Compared {
  before: Side
  after: Side
  comparison: Comparison
}

async function lists(a: string, b: string, csv: CsvChoices, { ui }: Session): Promise<Compared> {
  const before = (await readRecipients(a, csv, ui)).list
  const after = (await readRecipients(b, csv, ui)).list
  const { added, removed, changed, unchanged, reordered } = diffLists(before, after)
  const plain = ({ wallet, amount }: { wallet: string; amount: bigint }) => ({ wallet, amount: String(amount) })
  const comparison: Comparison = {
    added: added.map(plain),
    removed: removed.map(plain),
    changed: changed.map(({ wallet, before, after }) => ({ wallet, before: String(before), after: String(after) })),
    unchanged,
    reordered,
    unnamed: 0,
  }
  return { before: sideOf(a, before), after: sideOf(b, after), comparison }
}

/** The list against the stored tree, turned round when the stored one is the later. */
async function withStored(a: string, b: string, csv: CsvChoices, session: Session): Promise<Compared> {
  const storedFirst = isStored(a)
  const [id, file] = storedFirst ? [a, b] : [b, a]
  const { list } = await readRecipients(file, csv, session.ui)
  const { data: tree } = await session.client.merkleTrees.get({ id })
  const stored: Side = { source: id, stored: true, root: tree.root, leaf_count: tree.leaf_count, total: tree.total }
  const given = sideOf(file, list)
  const same = tree.root === given.root && tree.list_sha256 === listHash(list)
  const comparison = await compareWithStored({ id, tree: stored, list, same, storedFirst }, session)
  return storedFirst ? { before: stored, after: given, comparison } : { before: given, after: stored, comparison }
}

function sideOf(source: string, list: EntryList): Side {
  return {
    source,
    stored: false,
    root: toHex(buildTree(list).root),
    leaf_count: list.count,
    total: String(totalAmount(list)),
  }
}

function outcome(before: Side, after: Side, comparison: Comparison, exitCode: boolean): Outcome {
  const { added, removed, changed, unchanged, reordered, unnamed } = comparison
  const more = (before.stored ? removed : added).length + unnamed
  const [plus, minus] = before.stored ? [added.length, more] : [more, removed.length]
  const same = before.root === after.root
  const rows = [
    ...removed.map(({ wallet, amount }) => ['-', wallet, amount, null]),
    ...changed.map(({ wallet, before, after }) => ['~', wallet, before, after]),
    ...added.map(({ wallet, amount }) => ['+', wallet, null, amount]),
  ]
  const summary = `${plus} added, ${minus} removed, ${changed.length} changed, ${unchanged} unchanged`
  return {
    data: { same, ...comparison, before, after },
    rows: { columns: ['', 'wallet', 'before', 'after'], rows },
    notes: [
      `${summary}; total ${before.total} → ${after.total}`,
      ...(unnamed > 0
        ? [`Wallets that only the stored tree has are counted (${unnamed}), not named: the API does not list leaves.`]
        : []),
      ...(reordered ? ['The wallets in both stand in another order, which changes the root too.'] : []),
      same ? `Same root: ${before.root}` : `Root ${before.root} → ${after.root}`,
    ],
    exitCode: exitCode && !same ? EXIT.failed : EXIT.done,
  }
}
