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
