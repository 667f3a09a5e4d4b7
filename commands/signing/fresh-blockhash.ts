/**
 * Gives previewed transactions a fresh blockhash once the user has agreed, so that a slow answer does not let them
 * expire.
 */
import { ApiError } from '../../src/platform/errors.ts'
import { BLOCKHASH_SLOTS } from '../../src/solana/constants.ts'
import type { Session } from '../cli/session.ts'
import { failure } from '../ui/problem.ts'
import { type BuiltTransactions, transactionsOf } from './built-transactions.ts'
import { clusterState, secondsOf } from './lifetime.ts'

/**
 * Returns the build with another blockhash, and checks that nothing else changed. The build stays unchanged if the
 * platform wallet has signed it, or if an older API does not know the request; throws if it has expired then.
 */
export async function withFreshBlockhash<D extends BuiltTransactions>(session: Session, built: D): Promise<D> {
  const transactions = transactionsOf(built)
  const generated = built.generated_keys === undefined ? {} : { generated_keys: built.generated_keys }
  if (built.generated_keys === undefined && (await isAnySigned(session, transactions))) return inTime(session, built)
  const answer = await session.client.transactions
    .refresh({ transactions: [...transactions], ...generated })
    .catch((error) => {
      if (error instanceof ApiError && error.code === 'not_found') return null
      throw error
    })
  if (answer === null) return inTime(session, built)
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

/** Returns a build that keeps its blockhash, unless that has expired while the user was asked. */
async function inTime<D extends BuiltTransactions>(session: Session, built: D): Promise<D> {
  const { last_valid_block_height: lastValid } = built
  const state = lastValid === undefined ? null : await clusterState(session)
  if (state === null || lastValid === undefined || state.block_height <= lastValid) return built
  const seconds = state.slot_ms === null ? '' : `, about ${secondsOf(BLOCKHASH_SLOTS, state.slot_ms)} seconds`
  throw failure('it expired before you answered, so nothing was signed or sent', {
    next: `run it again, and answer within ${BLOCKHASH_SLOTS} blocks${seconds}: this transaction is signed already, so it gets no fresh blockhash`,
  })
}

async function isAnySigned({ wallet }: Session, transactions: readonly string[]): Promise<boolean> {
  const contents = await Promise.all(transactions.map((transaction) => wallet.decode(transaction)))
  return contents.some(({ signers }) => signers.some(({ signature }) => signature !== 'missing'))
}
