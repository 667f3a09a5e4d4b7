/** A recipient list in one buffer of 40 bytes per leaf (wallet 32 ‖ amount u64 LE) in leaf order, for hashing, storing and transferring. */
import { hash } from 'node:crypto'
import { amountFrom, writeAmount } from './amounts.ts'
import { keyFromBase58, keyToBase58, walletFault } from './base58.ts'
import { MerkleInputError } from './errors.ts'

/** Size of one leaf record in bytes. */
export const RECORD_BYTES = 40
/** Maximum number of leaves of one stored tree. */
export const MAX_STORED_LEAVES = 50_000

/** A packed list; wallets are distinct in every list that this module returns. */
export interface EntryList {
  readonly count: number
  /** Records of 40 bytes each, `count` in total. */
  readonly bytes: Uint8Array
  /** The sum of all amounts, where the reader of the list has added them up already. */
  readonly total?: bigint
}

export interface ListEntry {
  wallet: string
  amount: bigint
}

/** Creates a list over packed records. Throws RangeError when the length is not a multiple of 40. */
export function listFromBytes(bytes: Uint8Array): EntryList {
  if (bytes.length % RECORD_BYTES !== 0)
    throw new RangeError(`${bytes.length} bytes are not records of ${RECORD_BYTES}`)
  return { count: bytes.length / RECORD_BYTES, bytes }
}

/** Creates a list from entries with amounts in base units. Throws MerkleInputError for invalid or repeated wallets. */
export function listFromEntries(entries: readonly ListEntry[]): EntryList {
  const bytes = new Uint8Array(entries.length * RECORD_BYTES)
  const positions = new Map<string, number>()
  entries.forEach(({ wallet, amount }, i) => {
    const key = keyFromBase58(wallet)
    if (key === undefined)
      throw new MerkleInputError([{ position: `entries.${i}.wallet`, message: walletFault(wallet) }])
    const earlier = positions.get(wallet)
    if (earlier !== undefined) {
      const message = `wallet ${wallet} is already at entries.${earlier}`
      throw new MerkleInputError([{ position: `entries.${i}.wallet`, message }])
    }
    positions.set(wallet, i)
    bytes.set(key, i * RECORD_BYTES)
    writeAmount(bytes, i * RECORD_BYTES + 32, amount)
  })
  return { count: entries.length, bytes }
}

/** Returns the 32 bytes of a leaf's wallet as a view. */
export function walletAt(list: EntryList, index: number): Uint8Array {
  return list.bytes.subarray(index * RECORD_BYTES, index * RECORD_BYTES + 32)
}

/** Returns a leaf's amount in base units. */
export function amountAt(list: EntryList, index: number): bigint {
  return amountFrom(list.bytes, index * RECORD_BYTES + 32)
}

/** Returns a leaf with its wallet as base58 text. */
export function entryAt(list: EntryList, index: number): ListEntry {
  return { wallet: keyToBase58(list.bytes, index * RECORD_BYTES), amount: amountAt(list, index) }
}

/**
 * Returns the sum of all amounts in base units; it can exceed u64, the maximum of a single vault. Throws RangeError
 * for a truncated list.
 */
export function totalAmount(list: EntryList): bigint {
  if (list.total !== undefined) return list.total
  let total = 0n
  let low = 0
  let high = 0
  const { bytes } = list
  if (list.count * RECORD_BYTES > bytes.length)
    throw new RangeError(`${bytes.length} bytes hold no ${list.count} entries`)
  for (let i = 0, at = 32; i < list.count; i++, at += RECORD_BYTES) {
    low +=
      (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256 + (bytes[at + 2] ?? 0) * 65536 + (bytes[at + 3] ?? 0) * 16777216
    high +=
      (bytes[at + 4] ?? 0) + (bytes[at + 5] ?? 0) * 256 + (bytes[at + 6] ?? 0) * 65536 + (bytes[at + 7] ?? 0) * 16777216
    // Each half is exact in a double for up to 2^21 rows; adding them to the total every 2^20 rows keeps a margin.
    if ((i & 0xfffff) === 0xfffff) {
      total += (BigInt(high) << 32n) + BigInt(low)
      low = 0
      high = 0
    }
  }
  return total + (BigInt(high) << 32n) + BigInt(low)
}

/** SHA-256 in hex over the records in leaf order, each wallet32 ‖ amount u64 LE; equal lists have equal hashes. */
export function listHash(list: EntryList): string {
  return hash('sha256', list.bytes.subarray(0, list.count * RECORD_BYTES), 'hex')
}

/**
 * Returns the leaf index of a wallet (32 bytes), or -1. It is a linear scan that takes about 1 ms per million leaves.
 */
export function findWallet(list: EntryList, wallet: Uint8Array): number {
  const { bytes } = list
  const first = wallet[0]
  for (let i = 0, at = 0; i < list.count; i++, at += RECORD_BYTES) {
    if (bytes[at] !== first) continue
    let k = 1
    while (k < 32 && bytes[at + k] === wallet[k]) k++
    if (k === 32) return i
  }
  return -1
}

/** Splits the list into consecutive lists of at most `size` leaves, which are views of the same bytes. */
export function shardList(list: EntryList, size = MAX_STORED_LEAVES): EntryList[] {
  if (!Number.isInteger(size) || size < 1) throw new RangeError(`a shard holds at least one leaf, not ${size}`)
  const shards: EntryList[] = []
  for (let from = 0; from < list.count; from += size) {
    const to = Math.min(list.count, from + size)
    shards.push({ count: to - from, bytes: list.bytes.subarray(from * RECORD_BYTES, to * RECORD_BYTES) })
  }
  return shards
}
