/** Shifts all amounts of a list by decimal places, which converts a list that was read with other decimals. */
import { MAX_U64 } from '../solana/u64.ts'
import { amountFrom, writeAmount } from './amounts.ts'
import { type EntryList, RECORD_BYTES } from './entry-list.ts'

/**
 * Multiplies amounts by 10 to the power of `places`, which may be negative; null when a result is not whole or exceeds
 * 64 bits.
 */
export function scaledList({ count, bytes }: EntryList, places: number): EntryList | null {
  const scaled = bytes.slice(0, count * RECORD_BYTES)
  const factor = 10n ** BigInt(Math.abs(places))
  for (let at = RECORD_BYTES - 8; at < scaled.length; at += RECORD_BYTES) {
    const amount = amountFrom(scaled, at)
    if (places < 0 && amount % factor !== 0n) return null
    const moved = places < 0 ? amount / factor : amount * factor
    if (moved > MAX_U64) return null
    writeAmount(scaled, at, moved)
  }
  return { count, bytes: scaled }
}
