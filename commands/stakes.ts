/** `svc stakes`: NFT assets frozen in their owner's wallet. */
import { paths } from '../src/api/paths.ts'
import { choice, type Noun, required, text, verb } from './command.ts'
import { listOutcome, listVerb, recordVerb } from './reads.ts'

export const noun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List stakes, newest first',
      at: paths.stakes.list,
      filters: {
        owner: text('Only those of this wallet', { placeholder: 'WALLET' }),
        collection: text('Only those of this collection', { placeholder: 'ADDRESS' }),
        status: choice(['unstaked', 'staked', 'burned'], 'Only those in this state'),
      },
      columns: ['asset', 'status', 'owner', 'collection', 'platform_id'],
      call: (client, query) => client.stakes.list(query),
    }),
    get: recordVerb({
      about: 'Read one stake from the chain',
      at: paths.stakes.get,
      args: { asset: required(text('Address of the asset')) },
      call: (client, input) => client.stakes.get(input),
    }),
    lookup: verb({
      about: 'Look up the staked assets of a wallet',
      calls: [paths.stakes.lookup],
      args: { wallet: required(text('Address of the wallet')) },
      async run(input, { client }) {
        const { data } = await client.stakes.lookup(input)
        const columns = ['asset', 'status', 'collection', 'platform_id'] as const
        return { ...listOutcome(data.staked_assets, columns, [data.note]), data }
      },
    }),
  },
}
