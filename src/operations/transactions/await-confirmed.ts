/** Follows one submitted transaction until it is confirmed, for a request that goes on only then. */

import type { Services } from '../../context.ts'
import { type FollowedTransaction, findTransaction } from '../../store/transactions.ts'
import { pause } from '../../timing.ts'
import { followTransaction } from './follow-transactions.ts'

/** How long a request waits for one of several transactions, or for all of them; its retry waits again. */
export const CONFIRMED_WITHIN_MS = 60_000
const CONFIRMATION_POLL_MS = 400

/**
 * The row once it is confirmed, finalized or failed, or as it is at `until`, a moment of `performance.now()`. Throws for
 * what is not stored. A process that ends waits no longer.
 */
export async function awaitConfirmed(
  context: Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer' | 'ending'>,
  signature: string,
  until: number,
): Promise<FollowedTransaction & { isConfirmed: boolean }> {
  for (;;) {
    const row = await findTransaction(context.store.db, signature)
    if (row === null) throw new Error(`the submitted transaction ${signature} is not stored`)
    const isConfirmed = row.lifecycle === 'confirmed' || row.lifecycle === 'finalized'
    if (isConfirmed || row.lifecycle === 'failed' || performance.now() >= until || context.ending.aborted) {
      return { ...row, isConfirmed }
    }
    await pause(CONFIRMATION_POLL_MS)
    // A node that fails once is asked again, until the time is over.
    await followTransaction(context, row).catch((error) =>
      context.log.debug({ err: error, signature }, 'a look failed'),
    )
  }
}
