/** `svc tx refresh`: gives a build that waits for its signatures a fresh blockhash. */
import { paths } from '../../src/api/paths.ts'
import { required, text, verb } from '../command.ts'
import { lifetimeFields, trackedField } from '../signing/built-transactions.ts'
import { clusterState, lifetimeText } from '../signing/lifetime.ts'
import { readTransactions } from '../signing/transaction-input.ts'
import { failure } from '../ui/problem.ts'

export const refresh = verb({
  about: 'Put a fresh blockhash into a build that nobody else has signed yet',
  details:
    'For what is signed elsewhere and took longer than a blockhash lasts. Nothing else in it changes, which is checked here. Give the JSON that --build-only printed: keys that the build generated sign again, which only its `generated_keys` allow. It is refused while another version of it that was submitted can land, or has.',
  calls: [paths.transactions.refresh, paths.service.cluster],
  args: {
    transaction: required(text('JSON of --build-only as @FILE, or - for standard input; or a transaction in base64')),
  },
  examples: ['svc tx refresh @built.json --json > fresh.json'],
  async run({ transaction }, session) {
    const { client, wallet } = session
    const input = await readTransactions(transaction)
    const generated = input.generated_keys === undefined ? {} : { generated_keys: input.generated_keys }
    const { data } = await client.transactions.refresh({ transactions: input.transactions, ...generated })
    for (const [i, before] of input.transactions.entries()) {
      if (!(await wallet.differsInBlockhashAlone(before, data.transactions[i] ?? ''))) {
        throw failure('the API put more than a fresh blockhash into the transaction: do not sign what it answered')
      }
    }
    const { transactions, requiredSigners: missing_signers } = data
    const lifetime = lifetimeText(data.last_valid_block_height, await clusterState(session))
    return {
      data: {
        ...(input.isSeries ? { transactions } : { transaction: transactions[0] }),
        missing_signers,
        ...lifetimeFields(data),
        ...trackedField(input),
      },
      rows: { columns: ['transaction'], rows: transactions.map((one) => [one]) },
      text: transactions.join('\n'),
      notes: [
        `Must still be signed by ${missing_signers.join(', ')}.`,
        ...(lifetime === null ? [] : [`It can be sent ${lifetime}.`]),
      ],
    }
  },
})
