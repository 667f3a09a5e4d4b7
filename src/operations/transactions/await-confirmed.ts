/** Waits until a submitted transaction is confirmed, for requests that continue only then. */

import type { Services } from '../../context.ts'
import { isUnproven } from '../../following/transaction-record.ts'
import { pause } from '../../platform/timing.ts'
import { type FollowedTransaction, findTransaction } from '../../store/transactions/transactions.ts'
import { followTransaction } from './follow-transactions.ts'

/** Time that a request waits for one of several transactions, or for all of them. Its retry waits again. */
export const CONFIRMED_WITHIN_MS = 60_000
const CONFIRMATION_POLL_MS = 400

/**
 * Returns the row once it is confirmed, finalized or failed, or at the deadline `until`, in milliseconds of
 * `performance.now()`. Throws when it is not stored. Stops waiting when the process ends.
 */
export async function awaitConfirmed(
  context: Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer' | 'ending'>,
  signature: string,
  until: number,
): Promise<FollowedTransaction & { raw: Uint8Array; isConfirmed: boolean }> {
  for (;;) {
    const row = await findTransaction(context.store.db, signature)
    if (row === null) throw new Error(`the submitted transaction ${signature} is not stored`)
    const isConfirmed = row.lifecycle === 'confirmed' || row.lifecycle === 'finalized'
    if (isConfirmed || row.lifecycle === 'failed' || performance.now() >= until || context.ending.aborted) {
      return { ...row, isConfirmed }
    }
    await pauseOrSeen(context, signature)
    // A failing node is asked again until the deadline.
    await followTransaction(context, row).catch((error) =>
      context.log.debug({ err: error, signature }, 'a look failed'),
    )
  }
}

/** Says why a request does not continue yet; `repeat` is what its client does. */
export const unconfirmed = (name: string, row: FollowedTransaction, repeat: string): string =>
  isUnproven(row)
    ? `${name} was not seen in a block, and nothing proves that it is in none: ${repeat} to look again. A second node (setting rpc-urls) or a later transaction of its payer proves what became of it`
    : `${name} is not confirmed yet: ${repeat} to continue`

/** Waits a moment for the next look, or until a node reports that the transaction is confirmed. */
async function pauseOrSeen({ chain }: Pick<Services, 'chain'>, signature: string): Promise<void> {
  const { onSignature } = chain
  if (onSignature === undefined) return pause(CONFIRMATION_POLL_MS)
  let end = () => {}
  const seen = new Promise<void>((resolve) => {
    end = onSignature(signature, resolve)
  })
  try {
    await Promise.race([pause(CONFIRMATION_POLL_MS), seen])
  } finally {
    end()
  }
}
