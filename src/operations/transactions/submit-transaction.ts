/** Takes a signed transaction: checked, stored with its event, then sent. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { broadcast, preflight } from '../../chain/sending.ts'
import { decodeSigned } from '../../chain/transactions.ts'
import type { Context } from '../../context.ts'
import { findTransaction, planSend } from '../../store/transactions.ts'
import { FIRST_SEND_MS } from './follow/index.ts'
import { storeSubmitted } from './store-submitted.ts'
import { submitBundle } from './submit-bundle.ts'

type Route = Api['transactions']['submit']

/**
 * The same transaction submitted twice is one: the second answers like the first and changes nothing. Once stored it is
 * sent until it lands or expires, so a node that fails now is not the caller's trouble.
 */
export async function submitTransaction(context: Context, input: Input<Route>): Promise<Result<Route>> {
  if (input.bundle) return submitBundle(context, input)
  const { store, chain, clock, log } = context
  const transaction = decodeSigned(input.transaction!)
  const { signature } = transaction
  if ((await findTransaction(store.db, signature)) !== null) return { signature }
  const trial = input.skip_preflight ? undefined : await preflight(chain, transaction, 'transaction')
  const sends = trial?.landed !== true
  const answer = await context.commit(async (tx) => {
    // Also where it seems to have landed: that block may yet be dropped.
    const next_send_at = clock.now() + FIRST_SEND_MS
    await storeSubmitted(context, tx, transaction, input, { since_slot: trial?.slot ?? null, next_send_at })
    return { signature }
  })
  if (sends) {
    await broadcast(chain, transaction.raw, input.max_retries).then(
      () => (input.max_retries === 0 ? store.write((tx) => planSend(tx, signature, null)) : undefined),
      (error) => log.warn({ err: error, signature }, 'a transaction was not sent at once'),
    )
  }
  context.wake('transaction-watcher')
  return answer
}
