/** `svc tx`: how far a transaction has come, and what one would do. */
import { paths } from '../src/api/paths.ts'
import { type Noun, required, text, verb } from './command.ts'
import { recordVerb } from './reads.ts'
import { readText } from './ui/files.ts'

export const noun: Noun = {
  verbs: {
    status: recordVerb({
      about: 'Read how far a transaction has come',
      at: paths.transactions.get,
      args: { signature: required(text('Signature of the transaction')) },
      call: (client, input) => client.transactions.get(input),
    }),
    simulate: verb({
      about: 'Run a transaction without submitting it',
      calls: [paths.transactions.simulate],
      args: { transaction: required(text('The transaction in base64, @FILE that holds it, or - for standard input')) },
      examples: ['svc tx simulate @transaction.txt'],
      async run({ transaction }, { client }) {
        const file = transaction === '-' ? '-' : transaction.startsWith('@') ? transaction.slice(1) : undefined
        const given = file === undefined ? transaction : (await readText(file)).trim()
        const { data } = await client.transactions.simulate({ transaction: given })
        return { data, exitCode: data.err === null || data.err === undefined ? 0 : 1 }
      },
    }),
  },
}
