/** `svc tx combine`: joins the signatures that were made in different places, without a request. */

import { listOf, required, verb } from '../cli/command.ts'
import { partialOutcome } from '../signing/partial-outcome.ts'
import { transactionsIn } from '../signing/transaction-input.ts'
import { readText } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'

export const combine = verb({
  about: 'Join copies of a transaction that were signed in different places',
  details:
    'Each file holds base64, or the JSON of a build or of `svc tx sign`. Every signature is verified; a copy of another message, or an invalid signature, is reported by name.',
  args: { file: required(listOf('Files, - for standard input')) },
  examples: [
    'svc tx combine alice.json bob.json --json > signed.json',
    'svc tx combine alice.json bob.json carol.json',
  ],
  async run({ file: files }, { wallet, clock }) {
    const copies: (ReturnType<typeof transactionsIn> & { name: string })[] = []
    for (const argument of files) {
      const file = argument.startsWith('@') ? argument.slice(1) : argument
      copies.push({ name: file, ...transactionsIn((await readText(file)).trim(), file) })
    }
    const [first, ...others] = copies
    if (first === undefined) throw usage('give the files to combine', { param: '<file>' })
    const odd = others.find(({ transactions }) => transactions.length !== first.transactions.length)
    if (odd !== undefined) {
      throw usage(
        `${odd.name} holds ${counted(odd.transactions.length, 'transaction')}, and ${first.name} ${first.transactions.length}`,
        { param: '<file>' },
      )
    }
    const tracking = copies.filter(({ tracked_resource }) => tracked_resource !== undefined)
    const [tracked] = tracking
    const other = tracking.find(
      (one) => JSON.stringify(one.tracked_resource) !== JSON.stringify(tracked?.tracked_resource),
    )
    if (other !== undefined && tracked !== undefined) {
      throw usage(`${other.name} tracks another resource than ${tracked.name}`, { param: '<file>' })
    }
    const combined = await Promise.all(
      first.transactions.map((_, i) =>
        wallet.combine(copies.map(({ name, transactions }) => ({ name, transaction: transactions[i] ?? '' }))),
      ),
    )
    const tracked_resource = tracked?.tracked_resource
    const input = { ...first, ...(tracked_resource === undefined ? {} : { tracked_resource }) }
    return partialOutcome(input, combined, { now: clock.now() })
  },
})
