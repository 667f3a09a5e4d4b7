/** `svc airdrops snapshots`: stored snapshots of holders, and who was in them. */
import { paths } from '../../src/api/paths.ts'
import { required, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'

const at = paths.holderSnapshots
const SNAPSHOT = { id: required(text('Id of the snapshot')) }

export const snapshotVerbs = {
  'snapshots list': listVerb({
    about: 'List snapshots of holders, newest first',
    at: at.list,
    filters: { address: text('Only those of this mint or collection', { placeholder: 'ADDRESS' }) },
    examples: [
      'svc airdrops snapshots list',
      'svc airdrops snapshots list --address 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --limit 5',
    ],
    columns: ['id', 'mint', 'collection', 'slot', 'supply', 'holders', 'created_at'],
    call: (client, query) => client.holderSnapshots.list(query),
  }),
  'snapshots get': verb({
    about: 'Read one snapshot of holders',
    calls: [at.get],
    args: SNAPSHOT,
    examples: [
      'svc airdrops snapshots get hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C',
      'svc airdrops snapshots get hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C --json',
    ],
    run: async (input, { client }) => ({ data: (await client.holderSnapshots.get(input)).data }),
  }),
  'snapshots holders': listVerb({
    about: 'List who held something, by address: wallets, vaults and other accounts of programs',
    at: at.holders,
    args: SNAPSHOT,
    examples: [
      'svc airdrops snapshots holders hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C',
      'svc airdrops snapshots holders hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C --all -o plain',
    ],
    columns: ['wallet', 'amount', 'kind', 'program', 'frozen'],
    call: (client, query) => client.holderSnapshots.holders(query),
  }),
}
