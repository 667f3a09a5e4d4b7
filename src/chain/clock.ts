/** The chain's own clock, which programs go by. */
import { internal } from '../errors.ts'
import type { ChainAccount } from './localnet/types.ts'

export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111'

/** Slot, start of the epoch, epoch and next epoch come first. */
const TIMESTAMP_OFFSET = 32

/** Unix seconds, of the account of the clock. Throws internal_error where the node has none. */
export function unixSecondsIn(account: ChainAccount | null): bigint {
  if (account === null || account.data.length < TIMESTAMP_OFFSET + 8) {
    throw internal('Reading the clock failed at the RPC node: it has no clock account')
  }
  const { buffer, byteOffset, byteLength } = account.data
  return Buffer.from(buffer, byteOffset, byteLength).readBigInt64LE(TIMESTAMP_OFFSET)
}
