/** Submits signed transactions one after the other, each once the one before it is confirmed. */
import type { TrackedResource } from '../../api/index.ts'
import type { DecodedTransaction } from '../../chain/localnet/messages.ts'
import { broadcast, preflight } from '../../chain/sending.ts'
import type { Context } from '../../context.ts'
import { badRequest, internal } from '../../errors.ts'
import { findTransaction } from '../../store/transactions.ts'
import { FIRST_SEND_MS, followOne } from './follow/index.ts'
import { storeSubmitted } from './store-submitted.ts'
import { refuseBundled } from './submit-transaction.ts'

const MAX_RETRIES = 2
/** All of them have so long together; a retry goes on from there. */
const CONFIRMED_WITHIN_MS = 60_000
const LOOK_MS = 400

/**
 * Each is tried before it is stored and sent, outside of the request's own commit: a retry finds it. What is tracked
 * hangs on the last. Throws bad_request for one that fails, internal_error where one is not confirmed in time.
 */
export async function submitEach(
  context: Context,
  transactions: readonly DecodedTransaction[],
  tracked: TrackedResource,
): Promise<void> {
  const { store, chain, clock, log } = context
  const until = performance.now() + CONFIRMED_WITHIN_MS
  for (const [i, transaction] of transactions.entries()) {
    const { raw, signature } = transaction
    const known = await findTransaction(store.db, signature)
    if (known !== null) refuseBundled(known, `transactions.${i}`)
    else {
      const genesis = await chain.genesisHash()
      const { slot } = await preflight(chain, transaction, `transactions.${i}`)
      const tracked_resource = i === transactions.length - 1 ? tracked : undefined
      const plan = { genesis, since_slot: slot, next_send_at: clock.now() + FIRST_SEND_MS }
      await store.write((tx) =>
        storeSubmitted(context, tx, transaction, { max_retries: MAX_RETRIES, tracked_resource }, plan),
      )
      await broadcast(chain, raw, MAX_RETRIES).catch((error) =>
        log.warn({ err: error, signature }, 'a transaction was not sent at once'),
      )
      context.wake('transaction-watcher')
    }
    await confirmed(context, signature, `transactions.${i}`, until)
  }
}

async function confirmed(context: Context, signature: string, param: string, until: number): Promise<void> {
  for (;;) {
    const row = (await findTransaction(context.store.db, signature))!
    if (row.lifecycle === 'confirmed' || row.lifecycle === 'finalized') return
    if (row.lifecycle === 'failed') {
      throw badRequest(`${param} failed on the chain: ${row.err_json}`, { param, details: { signature } })
    }
    if (performance.now() >= until) {
      throw internal(`${param} is not confirmed yet: repeat the request to go on`, { details: { signature } })
    }
    // A node that fails once is asked again, until the time is over.
    await followOne(context, row).catch((error) => context.log.debug({ err: error, signature }, 'a look failed'))
    await new Promise((done) => setTimeout(done, LOOK_MS))
  }
}
