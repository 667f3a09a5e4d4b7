/** `svc gold`: a wallet's gold token held back until a date. */
import { paths } from '../src/api/paths.ts'
import { choice, type Noun, required, text } from './command.ts'
import { listVerb, recordVerb } from './reads.ts'

export const noun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List gold locks, newest first',
      at: paths.goldLocks.list,
      filters: {
        user: text('Only those of this wallet', { placeholder: 'WALLET' }),
        status: choice(['locked', 'unlockable', 'unlocked'], 'Only those in this state'),
      },
      columns: ['user', 'amount', 'status', 'unlocks_at', 'escrow'],
      call: (client, query) => client.goldLocks.list(query),
    }),
    get: recordVerb({
      about: 'Read the gold lock of a wallet from the chain',
      at: paths.goldLocks.get,
      args: { user: required(text('Address of the wallet')) },
      call: (client, input) => client.goldLocks.get(input),
    }),
  },
}
