/** Checks a transaction as soon as a node reports it as confirmed, instead of in the next round. */
import type { Services } from '../../context.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { followTransaction } from './follow-transactions.ts'

export type LookingServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log' | 'config' | 'signer'>

/** The look reads the status itself, so a false report only causes an extra look. */
export function lookWhenSeen(services: LookingServices, signature: string): void {
  services.chain.onSignature?.(signature, () => {
    void look(services, signature).catch((error) => services.log.debug({ err: error, signature }, 'a look failed'))
  })
}

async function look(services: LookingServices, signature: string): Promise<void> {
  const row = await findTransaction(services.store.db, signature)
  if (row !== null && row.next_check_at !== null) await followTransaction(services, row)
}
