/** `svc merkle build`: builds the tree of a CSV and prints it, writes it to a file with its proofs, or stores it through the API. */

import type { TreeCreated } from '../../src/api/merkle-trees.ts'
import { paths } from '../../src/api/paths.ts'
import { MAX_STORED_LEAVES, shardList, totalAmount } from '../../src/merkle/entry-list.ts'
import { MAX_AIRDROP_COUNT } from '../../src/merkle/tree-id.ts'
import { listWarnings } from '../../src/merkle/unusable-wallets.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { inWhole } from '../cli/amounts.ts'
import { type CommandOutcome, choiceOf, integer, required, text, toggle, verb } from '../cli/command.ts'
import { withListNotes } from '../lists/column-flags.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { builtTreeRecord, readKey } from './built-record.ts'
import { junitFlag, withJunitReport } from './junit.ts'
import { chosenUnits, listTokenIfRead, listWords, requireUnits, unitFlags } from './list-units.ts'
import { hashRoot, hashTree, readRecipients } from './recipients.ts'

export const buildTreeOfCsv = verb({
  about: 'Build the tree of a CSV; no network or database unless --persist',
  details:
    'FILE has one wallet,amount per line, with an optional header. With vesting it has wallet,amount,locked, and the header is required. - reads standard input. The first 100 faults are printed as FILE:LINE:COLUMN: what. With --persist, a mint on chain needs --decimals, which must be its own, or --raw.',
  calls: [paths.merkleTrees.create, paths.accounts.get, paths.tokens.batchFetch],
  args: { file: required(text('The CSV, or - for standard input', { existing: true })) },
  flags: {
    mint: required(text('Mint of the token', { placeholder: 'MINT' })),
    airdrop_count: integer('Which airdrop of this mint (default 0); with --shard, that of the first tree', {
      min: 0,
      max: MAX_AIRDROP_COUNT,
    }),
    ...unitFlags,
    persist: toggle('Store the tree, so that the API serves its proofs'),
    replace: toggle('With --persist: replace a stored tree of the same id and another root', { needs: ['persist'] }),
    shard: toggle(`Cut the list into consecutive trees of at most ${MAX_STORED_LEAVES} leaves`),
    out: text('Write the whole tree with every proof as JSON', { placeholder: 'FILE' }),
    format: {
      ...choiceOf(['svc', 'jito', 'streamflow'], 'Form of --out (default svc)', {
        jito: "the distributor's merkle_tree.json",
        streamflow: 'the CSV that its service takes',
      }),
      needs: ['out'],
    },
    ...junitFlag,
  },
  examples: [
    'svc merkle build recipients.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6',
    'svc merkle build recipients.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --decimals 6 --persist -o json',
    'svc merkle build huge.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --raw --shard --persist',
  ],
  async run(
    { file, mint, airdrop_count: first = 0, persist, replace, shard, out, format, junit, duplicates, ...chosen },
    session,
  ) {
    return withJunitReport(junit, file, async () => {
      const { ui } = session
      readKey(mint, '--mint')
      // Without --persist nothing reads the chain, so the units of the amounts cannot be checked.
      const token = persist ? await listTokenIfRead(session, mint) : null
      requireUnits(chosen, token)
      const recipients = await readRecipients(
        file,
        { ...chosen, mint, duplicates, units: (name) => chosenUnits(session, chosen, { name, token }) },
        ui,
      )
      const { list, merged, zeroAmounts } = recipients
      if (merged > 0) ui.warn(`${counted(merged, 'row')} of a wallet that has an earlier row: added to it`)
      if (zeroAmounts > 0) ui.warn(`${counted(zeroAmounts, 'wallet')} with an amount of 0`)
      if (persist && !shard && list.count > MAX_STORED_LEAVES) {
        throw usage(`${list.count} rows do not fit in one stored tree of ${MAX_STORED_LEAVES}`, { next: 'add --shard' })
      }
      const parts = shard ? shardList(list) : [list]
      if (first + parts.length - 1 > MAX_AIRDROP_COUNT) {
        throw usage(`${parts.length} trees from --airdrop-count ${first} go past ${MAX_AIRDROP_COUNT}`)
      }
      if (format === 'jito' && parts.some((part) => totalAmount(part) > MAX_U64)) {
        throw usage(`the amounts add up to more than ${MAX_U64}, which a distributor cannot hold`, {
          param: '--format',
        })
      }
      const records: TreeCreated[] = []
      for (const [i, part] of parts.entries()) {
        // Only the file has proofs; everything else needs just the root of the tree.
        const tree = out === undefined ? undefined : hashTree(part, ui)
        const rooted = tree ?? { list: part, root: hashRoot(part, ui) }
        const warnings = listWarnings(part)
        for (const warning of warnings) ui.warn(warning)
        let record: TreeCreated = builtTreeRecord(rooted, mint, first + i)
        if (persist) {
          const { storeTree } = await import('./store-tree.ts')
          record = await storeTree(session, rooted, record, replace)
        } else if (warnings.length > 0) record = { ...record, warnings }
        if (out !== undefined && tree !== undefined) {
          const { jitoPart, shardFile, treeChunks, writeTreeFile } = await import('./tree-file.ts')
          const chunks = treeChunks(format, tree, record, recipients.jito && jitoPart(recipients.jito, i))
          await writeTreeFile(shard ? shardFile(out, first + i) : out, chunks)
        }
        records.push(record)
      }
      const [record] = records
      const { decimals } = recipients
      const outcome = shard || record === undefined ? shardsOutcome(records, decimals) : treeOutcome(record, decimals)
      const shown = { decimals: token?.decimals ?? decimals ?? null, symbol: token?.symbol ?? null }
      // A sorted copy of a million amounts is made only for a person.
      await ui.preview(() => [listWords(parts, shown)])
      return withListNotes(outcome, recipients)
    })
  },
})

const treeOutcome = (record: TreeCreated, decimals: number | undefined): CommandOutcome => ({
  data: record,
  record:
    decimals === undefined
      ? { ...record, total: `${record.total} raw units` }
      : inWhole({ ...record }, { total: decimals, total_locked: decimals }),
})

function shardsOutcome(records: readonly TreeCreated[], decimals: number | undefined): CommandOutcome {
  const columns = ['airdrop_count', 'id', 'root', 'leaf_count', 'total', 'persisted'] as const
  const rowsOf = (shown: readonly Record<string, unknown>[]) => ({
    columns,
    rows: shown.map((record) => columns.map((column) => record[column])),
  })
  const all = records.map((record) => ({ ...record }))
  if (decimals === undefined) return { data: records, rows: rowsOf(all) }
  return { data: records, rows: rowsOf(all), table: rowsOf(all.map((one) => inWhole(one, { total: decimals }))) }
}
