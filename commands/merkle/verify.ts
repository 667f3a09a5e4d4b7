/** `svc merkle verify`: checks whether a list has a root, or a proof leads to one. */
import { paths } from '../../src/api/paths.ts'
import { type EntryList, listHash } from '../../src/merkle/entry-list.ts'
import { recipientRoot } from '../../src/merkle/recipient-tree.ts'
import { scaledList } from '../../src/merkle/scaled-list.ts'
import { toHex, verifyProof } from '../../src/merkle/tree.ts'
import { listWarnings } from '../../src/merkle/unusable-wallets.ts'
import { type CommandOutcome, listOf, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { readJson } from '../ui/files.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { readHash, readKey } from './built-record.ts'
import { compareLists } from './diff.ts'
import type { ListComparison } from './diff-report.ts'
import { differenceRows, differencesOf } from './diff-report.ts'
import { junitFlag, withJunitReport } from './junit.ts'
import { listWords } from './list-units.ts'
import { type CsvChoices, csvFlags, hashRoot, readRecipients } from './recipients.ts'
import { fetchStoredList } from './stored-list.ts'
import type { Against } from './verify-tree-file.ts'

/** The flags of one proof. */
const OF_A_PROOF = ['proof', 'wallet', 'amount', 'amount_locked', 'siblings']

export const verifyTree = verb({
  about: 'Check a list against a root, or one proof; exit 0 yes, 1 no',
  details:
    'With FILE: builds its tree and compares the root with --root. With --tree: compares every proof, the root and the sums of a file with its leaves, and with --root where given. Without: checks one proof, given as --proof FILE (the JSON that `svc merkle proof -o json` prints) or as --wallet, --amount and --siblings. Give --root from a source you trust: a proof file proves nothing about its own root.',
  calls: [paths.merkleTrees.get, paths.merkleTrees.entries],
  args: { file: text('The CSV, or - for standard input', { conflicts: OF_A_PROOF }) },
  flags: {
    tree: text("A tree's file, of `svc merkle build --out`, the Jito distributor or Streamflow, instead of FILE", {
      placeholder: 'FILE',
      conflicts: ['file', ...OF_A_PROOF],
    }),
    root: text('The root, hex with or without 0x', { placeholder: 'HEX' }),
    id: text('With FILE or --tree: a stored tree, whose root is used; svc also shows where the list differs', {
      placeholder: 'ID',
      conflicts: OF_A_PROOF,
    }),
    ...csvFlags,
    proof: text('JSON file of one proof, or -', { placeholder: 'FILE' }),
    wallet: text('Wallet of the proof', { placeholder: 'WALLET' }),
    amount: text('Amount of the proof in raw units', { placeholder: 'DIGITS' }),
    amount_locked: text('Locked amount of the proof in raw units (default 0)', { placeholder: 'DIGITS' }),
    siblings: listOf('Hashes of the proof, leaf to root', { placeholder: 'HEX,…' }),
    ...junitFlag,
  },
  needs: [['file', 'tree', ...OF_A_PROOF]],
  examples: [
    'svc merkle verify --tree merkle_tree.json',
    'svc merkle verify recipients.csv --root "$(cat root.txt)"',
    'svc merkle verify recipients.csv --decimals 6 --id 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc merkle verify --proof proof.json --root 44af2d44dc00d2157cde1260ad46338d985dcf63691f900ef154ebde036a1be7',
  ],
  async run({ file, tree, root, id, proof, wallet, amount, amount_locked, siblings, junit, ...csv }, session) {
    return withJunitReport(junit, file ?? tree ?? 'proof', async () => {
      if (tree !== undefined) {
        const { verifyTreeFile } = await import('./verify-tree-file.ts')
        return verifyTreeFile(tree, { root, id }, session)
      }
      if (file !== undefined) return verifyList(file, { root, id }, csv, session)
      if (proof !== undefined)
        return verifyOne({ ...(await readProofFile(proof)), ...(root === undefined ? {} : { root }) })
      return verifyOne({ wallet, amount, amount_locked, proof: siblings ?? [], root })
    })
  },
})

async function verifyList(file: string, against: Against, csv: CsvChoices, session: Session): Promise<CommandOutcome> {
  const { ui, client } = session
  const stored = against.id === undefined ? null : (await client.merkleTrees.get({ id: against.id })).data
  const expected = toHex(readHash(against.root ?? stored?.root, '--root'))
  const { list, hasDecimals, decimals } = await readRecipients(file, csv, ui)
  const warnings = listWarnings(list)
  // A sorted copy of a million amounts is made only for a person.
  await ui.preview(() => [listWords([list], { decimals: decimals ?? null, symbol: null })])
  for (const warning of warnings) ui.warn(warning)
  const root = toHex(hashRoot(list, ui))
  const list_sha256 = listHash(list)
  const warned = warnings.length === 0 ? {} : { warnings }
  const data = { valid: root === expected, root, expected, leaf_count: list.count, list_sha256, ...warned }
  const rows = `${file} with ${list.count} ${list.count === 1 ? 'row' : 'rows'}`
  if (data.valid)
    return { data, text: `Yes: ${rows} has the root ${root}; its canonical list has the SHA-256 ${list_sha256}.` }
  const no = `No: ${rows} has the root ${root}, expected ${expected}.`
  if (stored !== null && stored.root === expected) {
    const comparison = compareLists(await fetchStoredList(session, stored.id, stored.leaf_count), list)
    return { data: { ...data, ...comparison }, text: [no, ...whereLines(comparison)].join('\n'), exitCode: EXIT.failed }
  }
  const other = hasDecimals ? otherReading(list, csv.decimals, expected) : null
  return {
    data: { ...data, reading: other },
    text: no,
    notes: [
      other === null
        ? 'Amounts, --decimals, --duplicates and the order of rows all change the root; --id of the stored tree, or `svc merkle diff` with another list, shows what differs.'
        : `When read ${other}, it has that root.`,
    ],
    exitCode: EXIT.failed,
  }
}

const SHOWN = 20

/** The lines of the first differences from the stored list. */
function whereLines(comparison: ListComparison): string[] {
  const { rows } = differenceRows(differencesOf(comparison))
  const { added, removed, changed, reordered } = comparison
  const lines = rows.slice(0, SHOWN).map(([sign, wallet, before, after]) => {
    const amounts =
      before === null
        ? `has ${after}, not in the stored list`
        : after === null
          ? `stored with ${before}, not in the file`
          : `has ${after}, in the stored list ${before}`
    return `  ${sign} ${wallet}  ${amounts}`
  })
  return [
    `Against the stored list: ${added.length} more, ${removed.length} missing, ${changed.length} with another amount.`,
    ...lines,
    ...(rows.length > SHOWN ? [`  … and ${rows.length - SHOWN} more`] : []),
    ...(reordered ? ['The wallets in both have another order, which changes the root too.'] : []),
  ]
}

const USUAL_DECIMALS = [0, 6, 9, 8, 5, 2, 4, 3, 7, 1]
/** The most rows whose tree is built in less time than the command itself needs to start. */
const FEW_ROWS = 2_000

/**
 * The other decimals with which the list has the expected root. Each try costs as much as the tree, so a long list gets
 * one: a negative answer then takes at most twice as long as a positive one.
 */
export function otherReading(list: EntryList, csvDecimals: number | undefined, expected: string): string | null {
  const others = USUAL_DECIMALS.filter((decimals) => decimals !== (csvDecimals ?? 0))
  for (const decimals of list.count > FEW_ROWS ? others.slice(0, 1) : others) {
    const scaled = scaledList(list, decimals - (csvDecimals ?? 0))
    if (scaled === null || toHex(recipientRoot(scaled)) !== expected) continue
    return decimals === 0 ? 'without --decimals' : `with --decimals ${decimals}`
  }
  return null
}

interface ProofInput {
  wallet?: unknown
  amount?: unknown
  amount_locked?: unknown
  proof?: unknown
  root?: unknown
}

function verifyOne({ wallet, amount, amount_locked = '0', proof, root }: ProofInput): CommandOutcome {
  if (typeof wallet !== 'string') throw usage('the wallet is missing', { param: '--wallet' })
  const unlocked = readRawAmount(amount, 'amount', '--amount')
  const locked = readRawAmount(amount_locked, 'locked amount', '--amount-locked')
  if (!Array.isArray(proof)) throw usage('the proof must be a list of hashes', { param: '--siblings' })
  const hashes = proof.map((hash, i) => readHash(hash, `proof.${i}`))
  const expected = readHash(root, '--root')
  const valid = verifyProof(readKey(wallet, '--wallet'), unlocked, hashes, expected, locked)
  const claims = locked === 0n ? String(unlocked) : `${unlocked} and ${locked} locked`
  return {
    data: { valid, wallet, amount: String(unlocked), amount_locked: String(locked), root: toHex(expected) },
    text: valid
      ? `Yes: ${wallet} may claim ${claims} under the root ${toHex(expected)}.`
      : `No: this proof does not lead from ${wallet} with ${claims} to the root ${toHex(expected)}.`,
    exitCode: valid ? EXIT.done : EXIT.failed,
  }
}

function readRawAmount(value: unknown, name: string, param: string): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw usage(`the ${name} must be raw units, digits only`, { param })
}

/** Reads a proof file, which holds the bare proof or a whole answer of the API. */
async function readProofFile(file: string): Promise<ProofInput> {
  const wrong = () => usage(`${file} is not the JSON of a proof`, { next: 'make one with: svc merkle proof … -o json' })
  const parsed = (await readJson(file, wrong)) as (ProofInput & { data?: ProofInput }) | null
  const answer = parsed?.data ?? parsed
  if (typeof answer === 'object' && answer !== null) return answer
  throw wrong()
}
