/** Sends a transaction that was just stored. */

import { broadcast } from '../../chain/sending/send.ts'
import type { Services } from '../../context.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { findTransaction, planSend } from '../../store/transactions/transactions.ts'
import { followTransaction } from './follow-transactions.ts'

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

// Checks a transaction as soon as a node reports it as confirmed, instead of in the next round.

type LookingServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** The look reads the status itself, so a false report only causes an extra look. */
function lookWhenSeen(services: LookingServices, signature: string): void {
  services.chain.onSignature?.(signature, () => {
    void look(services, signature).catch((error) => services.log.debug({ err: error, signature }, 'a look failed'))
  })
}

async function look(services: LookingServices, signature: string): Promise<void> {
  const row = await findTransaction(services.store.db, signature)
  if (row !== null && row.next_check_at !== null) await followTransaction(services, row)
}
