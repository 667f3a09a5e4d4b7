/** `svc merkle`: from a CSV of recipients, or the tree of another tool, to a tree and its proofs, and the differences between two lists. */
import { paths } from '../../src/api/paths.ts'
import { entryAt, findWallet } from '../../src/merkle/entry-list.ts'
import { proofAt, toHex } from '../../src/merkle/tree.ts'
import { inWhole } from '../cli/amounts.ts'
import { mintAddress, type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb, recordVerb } from '../cli/reads.ts'
import { Problem } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { buildTreeOfCsv } from './build.ts'
import { readKey } from './built-record.ts'
import { diff } from './diff.ts'
import { importTree } from './import.ts'
import { csvFlags, hashTree, readRecipients } from './recipients.ts'
import { verifyTree } from './verify.ts'

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
