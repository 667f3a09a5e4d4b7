/** `svc tx sign`: adds the signature of a local keypair, and sends nothing. */
import { required, text, verb } from '../command.ts'
import { KEYPAIR } from '../signing/flags.ts'
import { partialOutcome } from '../signing/partial-outcome.ts'
import { readTransactions } from '../signing/transaction-input.ts'
import type { SignedTransaction } from '../signing/wallet.ts'
import { usage } from '../ui/problem.ts'

export const sign = verb({
  about: 'Add your signature to a transaction; nothing is sent',
  details:
    '`svc tx decode` and `svc tx simulate` show what you sign. Of the several transactions of one build, those are signed that your keypair signs.',
  args: { transaction: required(text('The transaction in base64, @FILE that holds it, or - for standard input')) },
  flags: { keypair: KEYPAIR },
  examples: ['svc tx sign @transaction.txt -k cold.json > signed.txt', 'svc tx sign @built.json --json > signed.json'],
  async run({ transaction, keypair }, { wallet }) {
    const input = await readTransactions(transaction)
    if (!input.isSeries) {
      const [only = ''] = input.transactions
      return partialOutcome(input, [await wallet.sign(only, { keypair })])
    }
    const address = await wallet.address(keypair)
    const partial: SignedTransaction[] = []
    let count = 0
    for (const one of input.transactions) {
      const { signers } = await wallet.decode(one)
      const isSigner = signers.some((signer) => signer.address === address)
      count += isSigner ? 1 : 0
      partial.push(await wallet.sign(one, isSigner ? { keypair } : { own: false }))
    }
    if (count > 0) return partialOutcome(input, partial)
    throw usage(`${address} is no signer of these transactions`, {
      param: '--keypair',
      next: 'give the keypair of one of them with -k FILE',
    })
  },
})
