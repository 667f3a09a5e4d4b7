/** `svc merkle`: from a CSV of recipients, or the tree of another tool, to a tree and its proofs, and the differences between two lists. */

import type { TreeCreated } from '../../src/api/merkle-trees.ts'
import { paths } from '../../src/api/paths.ts'
import {
  type EntryList,
  entryAt,
  findWallet,
  MAX_STORED_LEAVES,
  shardList,
  totalAmount,
} from '../../src/merkle/entry-list.ts'
import { proofAt, toHex } from '../../src/merkle/tree.ts'
import { MAX_AIRDROP_COUNT } from '../../src/merkle/tree-id.ts'
import { listWarnings } from '../../src/merkle/unusable-wallets.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { inWhole } from '../cli/amounts.ts'
import {
  type CommandOutcome,
  choiceOf,
  integer,
  mintAddress,
  type Noun,
  required,
  text,
  toggle,
  verb,
} from '../cli/command.ts'
import { listVerb, recordVerb } from '../cli/reads.ts'
import { withListNotes } from '../lists/column-flags.ts'
import { Problem, usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { builtTreeRecord, readHash, readKey } from './built-record.ts'
import { diff } from './diff.ts'
import { junitFlag, withJunitReport } from './junit.ts'
import { chosenUnits, listTokenIfRead, listWords, requireUnits, unitFlags } from './list-units.ts'
import { csvFlags, hashRoot, hashTree, readRecipients } from './recipients.ts'
import { verifyTree } from './verify.ts'

// `svc merkle build`: builds the tree of a CSV and prints it, writes it to a file with its proofs, or stores it
// through the API.

const buildTreeOfCsv = verb({
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

// `svc merkle import`: stores the tree of another tool under its own root, or writes its list as a CSV.

const ROWS_A_CHUNK = 1000

const importTree = verb({
  about: 'Store the tree of another tool under its own root, or write its list as a CSV',
  details:
    'FILE is the merkle_tree.json of the Jito distributor, claimants in the JSON of Streamflow, or a file of `svc merkle build --out`. Leaves keep their order. A file is refused if its proofs, sums or root do not match its leaves, and the message names the node.',
  calls: [paths.merkleTrees.create],
  args: { file: required(text('The file of the tree, or - for standard input', { existing: true })) },
  flags: {
    mint: text('Mint of the token, required without --csv', { placeholder: 'MINT' }),
    airdrop_count: integer('Which airdrop of this mint (default 0); for a distributor it is its version', {
      min: 0,
      max: MAX_AIRDROP_COUNT,
    }),
    root: text('Root that the tree must have; required if the file names none', { placeholder: 'HEX' }),
    csv: text('Write the list in raw units instead of storing the tree', { placeholder: 'FILE', conflicts: ['mint'] }),
    replace: toggle('Replace a stored tree of the same id and another root'),
  },
  needs: [['mint', 'csv']],
  examples: [
    'svc merkle import merkle_tree.json --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --airdrop-count 1',
    'svc merkle import merkle_tree.json --csv recipients.csv',
  ],
  async run({ file, mint = '', airdrop_count = 0, root, csv, replace }, session) {
    if (csv === undefined) readKey(mint, '--mint')
    const expected = root === undefined ? undefined : toHex(readHash(root, '--root'))
    const { checkTreeFile } = await import('../../src/merkle/tree-files/tree-file.ts')
    const { openTreeFile, requireWhole } = await import('./json-recipients.ts')
    const { requireRoot, treeFileRecord } = await import('./verify-tree-file.ts')
    const read = await openTreeFile(file)
    requireRoot(file, read, expected)
    const checked = checkTreeFile(read)
    requireWhole(file, checked)
    const data = treeFileRecord(read, checked)
    if (expected !== undefined && data.root !== expected) {
      throw usage(`the tree of ${file} has the root ${data.root}, expected ${expected}`, { param: '--root' })
    }
    if (csv !== undefined) {
      const { writeTreeFile } = await import('./tree-file.ts')
      await writeTreeFile(csv, csvChunks(read.list))
      return { data: { ...data, csv } }
    }
    if (read.list.count > MAX_STORED_LEAVES) {
      throw usage(
        `${counted(read.list.count, 'leaf', 'leaves')} do not fit in one stored tree of ${MAX_STORED_LEAVES}`,
        {
          next: 'split into parts, they would have other roots; --csv writes the list',
        },
      )
    }
    const { tree } = checked
    const { storeTree } = await import('./store-tree.ts')
    return { data: await storeTree(session, tree, builtTreeRecord(tree, mint, airdrop_count), replace) }
  },
})

/** The list in the product's own CSV; without locked amounts it has no such column. */
function* csvChunks(list: EntryList): Generator<string> {
  yield list.locked === undefined ? 'wallet,amount\n' : 'wallet,amount,locked\n'
  for (let from = 0; from < list.count; from += ROWS_A_CHUNK) {
    let rows = ''
    for (let i = from; i < Math.min(list.count, from + ROWS_A_CHUNK); i++) {
      const { wallet, amount, locked } = entryAt(list, i)
      rows += list.locked === undefined ? `${wallet},${amount}\n` : `${wallet},${amount},${locked}\n`
    }
    yield rows
  }
}

// `svc merkle proof`: the proof of one wallet, from a CSV or from a stored tree.

const proof = verb({
  about: 'Print the proof of one wallet, from a CSV or a stored tree',
  calls: [paths.merkleTrees.proof],
  args: { file: text('The CSV, or - for standard input; not with --id', { conflicts: ['id'], needs: ['mint'] }) },
  flags: {
    wallet: required(text('The wallet', { placeholder: 'WALLET' })),
    id: text('Id of a stored tree, instead of FILE', { placeholder: 'ID' }),
    mint: text('Mint of the token, required with FILE', { placeholder: 'MINT' }),
    ...csvFlags,
  },
  needs: [['file', 'id']],
  examples: [
    'svc merkle proof recipients.csv --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --wallet 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g -o json',
    'svc merkle proof --id 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --wallet 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
  ],
  async run({ file = '', wallet, id, mint = '', ...csv }, { client, ui }) {
    if (id !== undefined) return { data: (await client.merkleTrees.proof({ id, wallet })).data }
    readKey(mint, '--mint')
    const key = readKey(wallet, '--wallet')
    const { list } = await readRecipients(file, { ...csv, mint }, ui)
    const index = findWallet(list, key)
    if (index < 0)
      throw new Problem('not_found', `${wallet} is not among the ${counted(list.count, 'wallet')} of ${file}`)
    const tree = hashTree(list, ui)
    const { amount, locked } = entryAt(list, index)
    const amounts = { amount: String(amount), amount_locked: String(locked) }
    const data = { wallet, mint, ...amounts, root: toHex(tree.root), proof: proofAt(tree, index).map(toHex) }
    const { decimals } = csv
    if (decimals === undefined) return { data }
    return { data, record: inWhole(data, { amount: decimals, amount_locked: decimals }) }
  },
})

// `svc merkle list`, `get` and `entries`: reads stored trees.

const listTrees = listVerb({
  about: 'List stored trees, newest first',
  at: paths.merkleTrees.list,
  filters: { mint: mintAddress('Only those of this token') },
  examples: ['svc merkle list', 'svc merkle list --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --all'],
  columns: ['id', 'mint', 'airdrop_count', 'leaf_count', 'total', 'root', 'created_at'],
  call: (client, query) => client.merkleTrees.list(query),
})

const getTreeVerb = recordVerb({
  about: 'Read one stored tree',
  at: paths.merkleTrees.get,
  args: { id: required(text('Id of the tree')) },
  examples: [
    'svc merkle get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc merkle get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --json',
  ],
  call: (client, input) => client.merkleTrees.get(input),
})

const listTreeEntries = listVerb({
  about: 'List the wallets and amounts of a stored tree, in leaf order',
  at: paths.merkleTrees.entries,
  args: { id: required(text('Id of the tree')) },
  filters: {},
  examples: [
    'svc merkle entries 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc merkle entries 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --all -o plain',
  ],
  columns: ['wallet', 'amount', 'amount_locked'],
  call: (client, query) => client.merkleTrees.entries(query),
})

export const merkleNoun: Noun = {
  verbs: {
    build: buildTreeOfCsv,
    verify: verifyTree,
    proof,
    import: importTree,
    diff,
    list: listTrees,
    get: getTreeVerb,
    entries: listTreeEntries,
  },
}
