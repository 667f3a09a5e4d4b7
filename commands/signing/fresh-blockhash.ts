/**
 * Gives previewed transactions a fresh blockhash once the user has agreed, so that a slow answer does not let them
 * expire.
 */
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { failure } from '../ui/problem.ts'
import { type BuiltTransactions, transactionsOf } from './built-transactions.ts'

/**
 * Returns the build with another blockhash, and checks that nothing else changed. The build stays unchanged if the
 * platform wallet has signed it, or if an older API does not know the request.
 */
export async function withFreshBlockhash<D extends BuiltTransactions>(session: Session, built: D): Promise<D> {
  const transactions = transactionsOf(built)
  const generated = built.generated_keys === undefined ? {} : { generated_keys: built.generated_keys }
  if (built.generated_keys === undefined && (await isAnySigned(session, transactions))) return built
  const answer = await session.client.transactions
    .refresh({ transactions: [...transactions], ...generated })
    .catch((error) => {
      if (error instanceof ApiError && error.code === 'not_found') return null
      throw error
    })
  if (answer === null) return built
  const { data } = answer
  for (const [i, before] of transactions.entries()) {
    if (!(await session.wallet.differsInBlockhashAlone(before, data.transactions[i] ?? ''))) {
      throw failure('the API changed more than the blockhash of the transaction, so nothing was signed or sent')
    }
  }
  const fresh =
    'transactions' in built ? { transactions: data.transactions } : { transaction: data.transactions[0] ?? '' }
  return { ...built, ...fresh, last_valid_block_height: data.last_valid_block_height }
}

async function isAnySigned({ wallet }: Session, transactions: readonly string[]): Promise<boolean> {
  const contents = await Promise.all(transactions.map((transaction) => wallet.decode(transaction)))
  return contents.some(({ signers }) => signers.some(({ signature }) => signature !== 'missing'))
}
