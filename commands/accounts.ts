/** `svc accounts`: what the chain holds at an address. */
import { paths } from '../src/api/paths.ts'
import { list, type Noun, required, text, verb } from './command.ts'
import { recordVerb } from './reads.ts'

const COLUMNS = ['lamports', 'owner', 'executable', 'space', 'slot'] as const

export const noun: Noun = {
  verbs: {
    get: recordVerb({
      about: 'Read one account',
      at: paths.accounts.get,
      args: { address: required(text('Address of the account')) },
      call: (client, input) => client.accounts.get(input),
    }),
    batch: verb({
      about: 'Read up to 100 accounts at once',
      calls: [paths.accounts.batchFetch],
      args: { addresses: required(list('Addresses of the accounts')) },
      async run({ addresses }, { client }) {
        const { data } = await client.accounts.batchFetch({ addresses })
        const rows = addresses.map((address, i) => {
          const account = data.accounts[i]
          return [address, ...COLUMNS.map((column) => account?.[column])]
        })
        return { data, rows: { columns: ['address', ...COLUMNS], rows } }
      },
    }),
  },
}
