/** Submits signed transactions one after another, each when the one before it is confirmed. */
import type { TrackedResource } from '../../api/index.ts'
import { preflight } from '../../chain/sending/send.ts'
import { failureWords } from '../../chain/sending/stored-errors.ts'
import type { Context } from '../../context.ts'
import { FIRST_SEND_MS } from '../../following/send.ts'
import { badRequest, internal } from '../../platform/errors.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { tickerClaims } from '../pools/submitted-launches.ts'
import { awaitConfirmed, CONFIRMED_WITHIN_MS, unconfirmed } from './await-confirmed.ts'
import { siblingCheck } from './message-terms.ts'
import { storeSubmitted } from './store-submitted.ts'
import { refuseBundled, sendFirst } from './submit-transaction.ts'

const SUBMIT_MAX_RETRIES = 2

/**
 * Each is simulated before it is stored and sent. This happens outside the request's own commit, so that a retry finds
 * it. The tracked resource belongs to the last. Throws bad_request for one that fails, internal_error for one that is
 * not confirmed in time.
 */
export async function submitEach(
  context: Context,
  transactions: readonly DecodedTransaction[],
  tracked: TrackedResource,
): Promise<void> {
  const { store, chain, clock } = context
  // All of them share this deadline, and a retry continues from there.
  const until = performance.now() + CONFIRMED_WITHIN_MS
  for (const [i, transaction] of transactions.entries()) {
    const { signature } = transaction
    const known = await findTransaction(store.db, signature)
    if (known !== null) refuseBundled(known, `transactions.${i}`)
    else {
      const genesis = await chain.genesisHash()
      const { slot } = await preflight(chain, transaction, `transactions.${i}`)
      const tracked_resource = i === transactions.length - 1 ? tracked : undefined
      const plan = { genesis, since_slot: slot, next_send_at: clock.now() + FIRST_SEND_MS }
      const submitted = [{ transaction, param: `transactions.${i}` }]
      const siblings = siblingCheck(submitted)
      const tickers = await tickerClaims(context, submitted)
      await store.write(async (tx) => {
        await siblings.hold(tx, context.clock.now())
        await tickers.hold(tx)
        await storeSubmitted(context, tx, transaction, { max_retries: SUBMIT_MAX_RETRIES, tracked_resource }, plan)
      })
      await sendFirst(context, transaction, SUBMIT_MAX_RETRIES)
      context.wake('transaction-watcher')
    }
    await confirmed(context, signature, `transactions.${i}`, until)
  }
}

async function confirmed(context: Context, signature: string, param: string, until: number): Promise<void> {
  const row = await awaitConfirmed(context, signature, until)
  if (row.isConfirmed) return
  if (row.lifecycle === 'failed') {
    throw badRequest(`${param} failed on the chain. ${failureWords(row)}`, { param, details: { signature } })
  }
  throw internal(unconfirmed(param, row, 'repeat the request'), { details: { signature } })
}
