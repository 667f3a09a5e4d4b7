/** `svc accounts`: what the chain holds at an address. */

import type { AccountRecord } from '../src/api/accounts.ts'
import { paths } from '../src/api/paths.ts'
import { LAMPORT_DIGITS, wholeOf } from './amounts.ts'
import { list, type Noun, required, text, verb } from './command.ts'

const COLUMNS = ['lamports', 'owner', 'executable', 'space', 'slot'] as const

export const accountsNoun: Noun = {
  verbs: {
    get: verb({
      about: 'Read one account',
      calls: [paths.accounts.get],
      args: { address: required(text('Address of the account')) },
      async run(input, { client }) {
        const { data } = await client.accounts.get(input)
        const { address, lamports, ...rest } = data
        return { data, record: { address, sol: wholeOf(lamports, LAMPORT_DIGITS), ...rest } }
      },
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
        const [, ...others] = COLUMNS
        const table = {
          columns: ['address', 'sol', ...others],
          rows: addresses.map((address, i) => shownOf(address, data.accounts[i] ?? null, others)),
        }
        return { data, rows: { columns: ['address', ...COLUMNS], rows }, table }
      },
    }),
  },
}

const shownOf = (address: string, account: AccountRecord | null, columns: readonly (keyof AccountRecord)[]) => [
  address,
  wholeOf(account?.lamports, LAMPORT_DIGITS),
  ...columns.map((column) => account?.[column]),
]
