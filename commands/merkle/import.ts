/** `svc merkle import`: stores the tree of another tool under its own root, or writes its list as a CSV. */

import { paths } from '../../src/api/paths.ts'
import { type EntryList, entryAt, MAX_STORED_LEAVES } from '../../src/merkle/entry-list.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { MAX_AIRDROP_COUNT } from '../../src/merkle/tree-id.ts'
import { integer, required, text, toggle, verb } from '../cli/command.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { builtTreeRecord, readHash, readKey } from './built-record.ts'

const ROWS_A_CHUNK = 1000

export const importTree = verb({
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
