/** `svc nfts`: assets minted into a collection. */
import { paths } from '../src/api/paths.ts'
import { type Noun, required, text } from './command.ts'
import { listVerb, recordVerb } from './reads.ts'

export const noun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List NFTs, newest first',
      at: paths.nfts.list,
      filters: {
        owner: text('Only those of this wallet', { placeholder: 'WALLET' }),
        collection: text('Only those of this collection', { placeholder: 'ADDRESS' }),
      },
      columns: ['asset', 'name', 'status', 'frozen', 'owner', 'collection'],
      call: (client, query) => client.nfts.list(query),
    }),
    get: recordVerb({
      about: 'Read one NFT from the chain',
      at: paths.nfts.get,
      args: { asset: required(text('Address of the asset')) },
      call: (client, input) => client.nfts.get(input),
    }),
  },
}
