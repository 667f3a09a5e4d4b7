/** Shifts all amounts of a list by decimal places, which converts a list that was read with other decimals. */
import { MAX_U64 } from '../solana/u64.ts'
import { amountFrom, writeAmount } from './amounts.ts'
import { amountAt, type EntryList, LOCKED_BYTES, lockedAt, RECORD_BYTES } from './entry-list.ts'

const TWO_32 = 2 ** 32

/**
 * Multiplies amounts by 10 to the power of `places` (-18 to 18), which may be negative; null when a result is not whole
 * or exceeds 64 bits.
 */
export function scaledList({ count, bytes, locked }: EntryList, places: number): EntryList | null {
  const records = scaledRows(bytes.slice(0, count * RECORD_BYTES), RECORD_BYTES, places)
  if (records === null || locked === undefined) return records && { count, bytes: records }
  const column = scaledRows(locked.slice(0, count * LOCKED_BYTES), LOCKED_BYTES, places)
  if (column === null) return null
  const list = { count, bytes: records, locked: column }
  for (let i = 0; i < count; i++) if (amountAt(list, i) + lockedAt(list, i) > MAX_U64) return null
  return list
}

/** Scales the u64 LE at the end of each row in place. */
function scaledRows(scaled: Uint8Array, rowBytes: number, places: number): Uint8Array | null {
  const view = new DataView(scaled.buffer, scaled.byteOffset, scaled.length)
  const factor = 10 ** Math.abs(places)
  for (let at = rowBytes - 8; at < scaled.length; at += rowBytes) {
    const amount = view.getUint32(at + 4, true) * TWO_32 + view.getUint32(at, true)
    const moved = places < 0 ? amount / factor : amount * factor
    // Doubles are exact up to here and many times as fast as bigint, which is used for the few larger amounts.
    if (amount <= Number.MAX_SAFE_INTEGER && moved <= Number.MAX_SAFE_INTEGER) {
      if (places < 0 && amount % factor !== 0) return null
      view.setUint32(at, moved >>> 0, true)
      view.setUint32(at + 4, moved / TWO_32, true)
    } else if (!scaleLarge(scaled, at, BigInt(factor), places < 0)) return null
  }
  return scaled
}

function scaleLarge(scaled: Uint8Array, at: number, factor: bigint, divides: boolean): boolean {
  const amount = amountFrom(scaled, at)
  if (divides && amount % factor !== 0n) return false
  const moved = divides ? amount / factor : amount * factor
  if (moved > MAX_U64) return false
  writeAmount(scaled, at, moved)
  return true
}
