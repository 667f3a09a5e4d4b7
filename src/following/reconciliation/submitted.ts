/** Separates transactions that were submitted here, which the watcher follows by their bytes, from those that must be read. */
import { decodeWireTransaction } from '../../solana/messages.ts'
import { isPlainMessage } from '../../solana/plain-messages.ts'
import type { FollowedTransaction } from '../../store/transactions/transactions.ts'

/**
 * `followed`: the watcher is done with it; `pending`: the watcher comes first; `hidden`: only the chain shows what it
 * did, because it calls other programs or uses lookup tables.
 */
type SubmittedKind = 'followed' | 'pending' | 'hidden'

export function submittedKind({
  lifecycle,
  raw,
}: Pick<FollowedTransaction, 'lifecycle'> & { raw: Uint8Array }): SubmittedKind {
  if (lifecycle === 'submitted' || lifecycle === 'processing') return 'pending'
  if (lifecycle === 'failed' || raw.length === 0) return 'followed'
  return isPlainMessage(decodeWireTransaction(raw).message) ? 'followed' : 'hidden'
}
