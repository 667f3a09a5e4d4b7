/** `svc accounts`: reads accounts of the chain. */

import type { AccountRecord } from '../src/api/accounts.ts'
import { paths } from '../src/api/paths.ts'
import { LAMPORT_DECIMALS, wholeOf } from './cli/amounts.ts'
import { listOf, type Noun, required, text, verb } from './cli/command.ts'

const ACCOUNT_COLUMNS = ['lamports', 'owner', 'executable', 'space', 'slot'] as const

export const accountsNoun: Noun = {
  verbs: {
    get: verb({
      about: 'Read one account',
      calls: [paths.accounts.get],
      args: { address: required(text('Address of the account')) },
      examples: [
        'svc accounts get 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
        'svc accounts get 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY -u devnet --json',
      ],
      async run(input, { client }) {
        const { data } = await client.accounts.get(input)
        const { address, lamports, ...rest } = data
        return { data, record: { address, sol: wholeOf(lamports, LAMPORT_DECIMALS), ...rest } }
      },
    }),
    batch: verb({
      about: 'Read up to 100 accounts at once',
      calls: [paths.accounts.batchFetch],
      args: { addresses: required(listOf('Addresses of the accounts')) },
      examples: [
        'svc accounts batch 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78',
        'svc accounts batch 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g 6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78 --json',
      ],
      async run({ addresses }, { client }) {
        const { data } = await client.accounts.batchFetch({ addresses })
        const rows = addresses.map((address, i) => {
          const account = data.accounts[i]
          return [address, ...ACCOUNT_COLUMNS.map((column) => account?.[column])]
        })
        const [, ...others] = ACCOUNT_COLUMNS
        const table = {
          columns: ['address', 'sol', ...others],
          rows: addresses.map((address, i) => accountCells(address, data.accounts[i] ?? null, others)),
        }
        return { data, rows: { columns: ['address', ...ACCOUNT_COLUMNS], rows }, table }
      },
    }),
  },
}

const accountCells = (address: string, account: AccountRecord | null, columns: readonly (keyof AccountRecord)[]) => [
  address,
  wholeOf(account?.lamports, LAMPORT_DECIMALS),
  ...columns.map((column) => account?.[column]),
]
