/** Index of wallets in byte order with their leaf index: rows of wallet 32 ‖ leaf index u32 LE, for binary search. */
import { type EntryList, RECORD_BYTES } from './entry-list.ts'

/** Size of an index row in bytes. */
export const INDEX_BYTES = 36

/** Returns the number of the last row whose wallet is not after `wallet`, or -1 when all are. */
export function lastNotAfter(rows: Buffer, rowBytes: number, count: number, wallet: Uint8Array): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = middle * rowBytes
    if (rows.compare(wallet, 0, 32, at, at + 32) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Encodes the index of a list. */
export function encodeIndex(list: EntryList): Uint8Array {
  const { count, bytes } = list
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  // Wallet prefix and leaf index are combined in one double, because sorting numbers is far faster than sorting with a
  // callback.
  const indexBits = 32 - Math.clz32(count)
  const prefixBits = Math.min(32, 53 - indexBits)
  const room = 2 ** indexBits
  const keys = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    keys[i] = (source.readUInt32BE(i * RECORD_BYTES) >>> (32 - prefixBits)) * room + i
  }
  keys.sort()
  const order = Uint32Array.from(keys, (key) => key % room)
  for (let from = 0; from < count; ) {
    const prefix = Math.floor((keys[from] ?? 0) / room)
    let to = from + 1
    while (to < count && Math.floor((keys[to] ?? 0) / room) === prefix) to++
    if (to - from > 1) {
      order.subarray(from, to).sort((a, b) => {
        const [x, y] = [a * RECORD_BYTES, b * RECORD_BYTES]
        return source.compare(source, y, y + 32, x, x + 32)
      })
    }
    from = to
  }
  const index = new Uint8Array(count * INDEX_BYTES)
  for (let i = 0, at = 0; i < count; i++, at += INDEX_BYTES) {
    const leaf = order[i] ?? 0
    // A loop is faster than calling copy() for only 32 bytes.
    for (let k = 0, from = leaf * RECORD_BYTES; k < 32; k++) index[at + k] = bytes[from + k] ?? 0
    index[at + 32] = leaf
    index[at + 33] = leaf >>> 8
    index[at + 34] = leaf >>> 16
    index[at + 35] = leaf >>> 24
  }
  return index
}
