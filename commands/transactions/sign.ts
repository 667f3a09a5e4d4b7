/** `svc tx sign`: shows what a transaction does, and adds the signature of a local keypair; sends nothing. */
import { required, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { refuseUnconfirmable } from '../signing/confirm.ts'
import { contentOutcome } from '../signing/content.ts'
import { KEYPAIR } from '../signing/flags.ts'
import { partialOutcome } from '../signing/partial-outcome.ts'
import { readTransactions } from '../signing/transaction-input.ts'
import type { SignedTransaction } from '../signing/wallet.ts'
import { usage } from '../ui/problem.ts'

export const sign = verb({
  about: 'Add your signature to a transaction; nothing is sent',
  details:
    'First shows what the transaction does, as far as its bytes say, and asks you on a terminal. Without a terminal, clusters where a mistake costs money need --yes. `svc tx simulate` tries it. Of a build with several transactions, it signs those that need your keypair.',
  args: { transaction: required(text('The transaction in base64, @FILE that holds it, or - for standard input')) },
  flags: { keypair: KEYPAIR },
  examples: ['svc tx sign @transaction.txt -k cold.json > signed.txt', 'svc tx sign @built.json --json > signed.json'],
  async run({ transaction, keypair }, session) {
    const { wallet } = session
    const input = await readTransactions(transaction)
    if (!input.isSeries) {
      const [only = ''] = input.transactions
      await confirmContent(session, input.transactions)
      return partialOutcome(input, [await wallet.sign(only, { keypair })])
    }
    const address = await wallet.address(keypair)
    await confirmContent(session, input.transactions)
    const partial: SignedTransaction[] = []
    let count = 0
    for (const one of input.transactions) {
      const { signers } = await wallet.decode(one)
      const isSigner = signers.some((signer) => signer.address === address)
      count += isSigner ? 1 : 0
      partial.push(await wallet.sign(one, isSigner ? { keypair } : { own: false }))
    }
    if (count > 0) return partialOutcome(input, partial)
    throw usage(`${address} is not a signer of these transactions`, {
      param: '--keypair',
      next: 'give the keypair of one of them with -k FILE',
    })
  },
})

/** There is no request to compare them with, so a person must agree to what their bytes say. */
async function confirmContent(session: Session, transactions: readonly string[]): Promise<void> {
  const { ui, wallet } = session
  if (!ui.interactive) refuseUnconfirmable(session, await session.cluster())
  const untried = 'not made: svc tx simulate makes one'
  for (const transaction of transactions) {
    const content = await wallet.describe(transaction)
    const { text = '' } = await contentOutcome(content, { trial: null, state: null, lastValid: undefined, untried })
    await ui.preview(text.split('\n'))
  }
  if (ui.interactive) await ui.confirm(transactions.length === 1 ? 'Sign it?' : `Sign these ${transactions.length}?`)
}
