/** Computes what a lock takes from its creator if the mint withholds a transfer fee. */
import type { TransferFee } from './token-extensions.ts'
import { MAX_U64 } from './u64.ts'

const WHOLE = 10_000n

/**
 * Returns the raw units that leave the creator, so that at least `amount` arrives; null if a token account cannot hold
 * them. The program rounds up more than it needs, which its later builds do not: those take a few units less. What
 * arrives beyond the amount returns to the creator when the lock ends.
 */
export function depositOf(fee: TransferFee | null, amount: bigint): bigint | null {
  if (fee === null || fee.basisPoints === 0) return amount
  const left = WHOLE - BigInt(fee.basisPoints)
  const rounded = left === 0n ? null : (amount * WHOLE + WHOLE - 1n) / left
  const deposit = rounded === null || rounded - amount >= fee.maximumFee ? amount + fee.maximumFee : rounded
  return deposit > MAX_U64 ? null : deposit
}
