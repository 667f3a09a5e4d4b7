/** Looks at a transaction as soon as a node says that it is confirmed, instead of at the next round. */
import type { Services } from '../../context.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { followTransaction } from './follow-transactions.ts'

export type LookingServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** The look reads the status anew, so that a node that says so falsely causes a look and nothing else. */
export function lookWhenSeen(services: LookingServices, signature: string): void {
  services.chain.onSignature?.(signature, () => {
    void look(services, signature).catch((error) => services.log.debug({ err: error, signature }, 'a look failed'))
  })
}

async function look(services: LookingServices, signature: string): Promise<void> {
  const row = await findTransaction(services.store.db, signature)
  if (row !== null && row.next_check_at !== null) await followTransaction(services, row)
}
