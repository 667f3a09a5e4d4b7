/** Sends a transaction that was just stored. */

import { broadcast } from '../../chain/sending/send.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { planSend } from '../../store/transactions/transactions.ts'
import { type LookingServices, lookWhenSeen } from './look-when-seen.ts'

/** The request makes the first attempt and the watcher all later ones, so that a failure is only logged. */
export async function sendFirst(
  services: LookingServices,
  { raw, signature }: DecodedTransaction,
  maxRetries: number,
): Promise<void> {
  const { store, chain, log } = services
  lookWhenSeen(services, signature)
  await broadcast(chain, raw, maxRetries).then(
    () => (maxRetries === 0 ? store.write((tx) => planSend(tx, signature, null)) : undefined),
    (error) => log.warn({ err: error, signature }, 'the first sending of a transaction failed'),
  )
}
