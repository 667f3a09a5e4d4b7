/** Submits signed transactions one after the other, each followed on its own. */
import type { TrackedResource } from '../../api/index.ts'
import type { DecodedTransaction } from '../../chain/localnet/messages.ts'
import { broadcast, preflight } from '../../chain/sending.ts'
import type { Context } from '../../context.ts'
import { findTransaction } from '../../store/transactions.ts'
import { FIRST_SEND_MS } from './follow/index.ts'
import { storeSubmitted } from './store-submitted.ts'

const MAX_RETRIES = 2

/**
 * The first is tried beforehand; the others may need what it does. Stored and sent outside of the request's own commit:
 * a retry finds them. What is tracked hangs on the last.
 */
export async function submitEach(
  context: Context,
  transactions: readonly DecodedTransaction[],
  tracked: TrackedResource,
): Promise<void> {
  const { store, chain, clock, log } = context
  const [first] = transactions
  if (first === undefined) return
  const genesis = await chain.genesisHash()
  const isNew = (await findTransaction(store.db, first.signature)) === null
  const trial = isNew ? await preflight(chain, first, 'transactions.0') : undefined
  await store.write(async (tx) => {
    for (const [i, transaction] of transactions.entries()) {
      const tracked_resource = i === transactions.length - 1 ? tracked : undefined
      const plan = { genesis, since_slot: trial?.slot ?? null, next_send_at: clock.now() + FIRST_SEND_MS }
      await storeSubmitted(context, tx, transaction, { max_retries: MAX_RETRIES, tracked_resource }, plan)
    }
  })
  for (const { raw, signature } of transactions) {
    await broadcast(chain, raw, MAX_RETRIES).catch((error) =>
      log.warn({ err: error, signature }, 'a transaction was not sent at once'),
    )
  }
  context.wake('transaction-watcher')
}
