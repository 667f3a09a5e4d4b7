/** Computes the transfer fee of a Token-2022 mint as the program does. Every amount is in raw units. */
import type { MintExtensions, TransferFee } from './token-extensions.ts'

const WHOLE = 10_000n

/** Returns the fee of the mint in an epoch; null without one. */
export function feeInEpoch(extensions: Pick<MintExtensions, 'transferFee'> | null, epoch: bigint): TransferFee | null {
  const fees = extensions?.transferFee ?? null
  if (fees === null) return null
  return epoch >= fees.newer.epoch ? fees.newer : fees.older
}

/** Returns the part of a transfer that is withheld. */
export function feeOn(fee: TransferFee | null, amount: bigint): bigint {
  if (fee === null || fee.basisPoints === 0) return 0n
  const share = (amount * BigInt(fee.basisPoints) + WHOLE - 1n) / WHOLE
  return share < fee.maximumFee ? share : fee.maximumFee
}

/** Returns the least raw units that must leave so that this many arrive (spl-token-2022, `calculate_pre_fee_amount`). */
export function sentFor(fee: TransferFee | null, arriving: bigint): bigint {
  if (fee === null || fee.basisPoints === 0 || arriving === 0n) return arriving
  const left = WHOLE - BigInt(fee.basisPoints)
  const sent = left === 0n ? null : (arriving * WHOLE + left - 1n) / left
  return sent === null || sent - arriving >= fee.maximumFee ? arriving + fee.maximumFee : sent
}
