/** `svc airdrops`: distributors on chain over a merkle root. */
import { paths } from '../src/api/paths.ts'
import { type Noun, required, text } from './command.ts'
import { listVerb, recordVerb } from './reads.ts'

export const noun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List airdrops, newest first',
      at: paths.airdrops.list,
      filters: { mint: text('Only those of this token', { placeholder: 'MINT' }) },
      columns: ['id', 'mint', 'airdrop_count', 'leaf_count', 'status', 'root'],
      call: (client, query) => client.airdrops.list(query),
    }),
    get: recordVerb({
      about: 'Read one airdrop',
      at: paths.airdrops.get,
      args: { id: required(text('Id of the airdrop')) },
      call: (client, input) => client.airdrops.get(input),
    }),
  },
}
