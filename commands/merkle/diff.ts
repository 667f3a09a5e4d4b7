/** `svc merkle diff`: wallets added, removed and changed between two lists or trees. */
import { existsSync } from 'node:fs'
import { paths } from '../../src/api/paths.ts'
import { MAX_DECIMALS } from '../../src/merkle/amounts.ts'
import { diffLists } from '../../src/merkle/diff.ts'
import { type EntryList, type ListEntry, totalAmount, totalLocked } from '../../src/merkle/entry-list.ts'
import { recipientRoot } from '../../src/merkle/recipient-tree.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { type CommandOutcome, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { writePieces } from '../ledger/csv.ts'
import { EXIT, usage } from '../ui/problem.ts'
import {
  amountText,
  differenceMarkdown,
  differenceRows,
  differencesOf,
  type ListComparison,
  type ListSummary,
  type MarkdownReport,
  writeDifferences,
} from './diff-report.ts'
import { junitFlag, withJunitReport } from './junit.ts'
import { type CsvChoices, csvFlags, readRecipients } from './recipients.ts'
import { fetchStoredList } from './stored-list.ts'

export const diff = verb({
  about: 'Show wallets added, removed and changed between two lists or trees',
  details: 'The largest change is first. A and B are CSVs, files of `svc merkle build --out`, or ids of stored trees.',
  calls: [paths.merkleTrees.get, paths.merkleTrees.entries],
  args: { a: required(text('The earlier list')), b: required(text('The later list')) },
  flags: {
    ...csvFlags,
    before_decimals: text('Decimals of the CSV A if they differ from those of B, or raw', { placeholder: 'N' }),
    exit_code: toggle('Exit 1 when the roots differ'),
    markdown: text('Write a summary for a review, with the 100 largest differences', { placeholder: 'FILE' }),
    csv: text('Write every difference as CSV', { placeholder: 'FILE' }),
    ...junitFlag,
  },
  examples: [
    'svc merkle diff old.csv new.csv --exit-code',
    'svc merkle diff 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw recipients.csv',
  ],
  async run({ a, b, before_decimals, exit_code, markdown, csv: csvFile, junit, ...csv }, session) {
    return withJunitReport(junit, b, async () => {
      if (markdown === '-' || csvFile === '-')
        throw usage('--markdown and --csv must name files: standard output is for the answer')
      if (a === '-' && b === '-') throw usage('only one of the two lists can come from standard input')
      const decimals = before_decimals === undefined ? csv.decimals : beforeDecimals(before_decimals)
      const before = await readSide(a, { ...csv, decimals }, session)
      const after = await readSide(b, csv, session)
      // With two different decimals, whole tokens would hide the differences, so raw units are shown.
      const shown = decimals === csv.decimals ? csv.decimals : undefined
      const comparison = compareLists(before, after)
      const differences = differencesOf(comparison)
      const report = { before: listSummary(a, before), after: listSummary(b, after), comparison, differences }
      if (csvFile !== undefined) await writeDifferences(csvFile, differences, shown)
      if (markdown !== undefined) await writePieces(markdown, only(differenceMarkdown({ ...report, decimals: shown })))
      return diffOutcome({ ...report, decimals: shown }, exit_code)
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
    total_locked: String(totalLocked(list)),
  }
}

async function* only(text: string): AsyncGenerator<string> {
  yield text
}

function diffOutcome(
  { before, after, comparison, differences, decimals }: MarkdownReport,
  exit_code: boolean,
): CommandOutcome {
  const { added, removed, changed, unchanged, reordered } = comparison
  const same = before.root === after.root
  const summary = `${added.length} added, ${removed.length} removed, ${changed.length} changed, ${unchanged} unchanged`
  return {
    data: { same, ...comparison, before, after },
    rows: differenceRows(differences),
    table: differenceRows(differences, decimals),
    notes: [
      `${summary}; total ${amountText(BigInt(before.total), decimals)} → ${amountText(BigInt(after.total), decimals)}${decimals === undefined ? ' raw units' : ''}`,
      ...(reordered ? ['The wallets in both have another order, which changes the root too.'] : []),
      same ? `Same root: ${before.root}` : `Root ${before.root} → ${after.root}`,
    ],
    exitCode: exit_code && !same ? EXIT.failed : EXIT.done,
  }
}
