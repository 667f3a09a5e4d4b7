/** `svc merkle list`, `get` and `entries`: reads stored trees. */
import { paths } from '../../src/api/paths.ts'
import { mintAddress, required, text } from '../cli/command.ts'
import { listVerb, recordVerb } from '../cli/reads.ts'

export const listTrees = listVerb({
  about: 'List stored trees, newest first',
  at: paths.merkleTrees.list,
  filters: { mint: mintAddress('Only those of this token') },
  examples: ['svc merkle list', 'svc merkle list --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --all'],
  columns: ['id', 'mint', 'airdrop_count', 'leaf_count', 'total', 'root', 'created_at'],
  call: (client, query) => client.merkleTrees.list(query),
})

export const getTreeVerb = recordVerb({
  about: 'Read one stored tree',
  at: paths.merkleTrees.get,
  args: { id: required(text('Id of the tree')) },
  examples: [
    'svc merkle get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc merkle get 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --json',
  ],
  call: (client, input) => client.merkleTrees.get(input),
})

export const listTreeEntries = listVerb({
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
