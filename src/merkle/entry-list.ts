/**
 * A recipient list in one buffer of 40 bytes per leaf (wallet 32 ‖ amount u64 LE) in leaf order, and one of its locked
 * amounts if it has any.
 */
import { createHash, hash } from 'node:crypto'
import { MAX_U64 } from '../solana/u64.ts'
import { amountFrom, writeAmount } from './amounts.ts'
import { keyFromBase58, keyToBase58, walletFault } from './base58.ts'
import { MerkleInputError } from './errors.ts'

/** Size of one leaf record in bytes. */
export const RECORD_BYTES = 40
/** Size of one locked amount in bytes. */
export const LOCKED_BYTES = 8
/** Maximum number of leaves of one stored tree. */
export const MAX_STORED_LEAVES = 50_000

/** A packed list; wallets are distinct in every list that this module returns. */
export interface EntryList {
  readonly count: number
  /** Records of 40 bytes each, `count` in total. */
  readonly bytes: Uint8Array
  /**
   * Locked amounts of 8 bytes each (u64 LE), `count` in total; absent if all are 0, so that such a list has the same
   * root, hash and stored form as one without the column.
   */
  readonly locked?: Uint8Array
  /** The sum of all amounts, locked ones included, if the reader of the list has already computed it. */
  readonly total?: bigint
}

/** One recipient; both amounts are base units. */
export interface ListEntry {
  wallet: string
  /** The amount that can be claimed at once. */
  amount: bigint
  /** The amount that is released over the vesting period. */
  locked: bigint
}

/** A recipient as a caller gives it; without a locked amount it is 0. */
export type GivenEntry = Omit<ListEntry, 'locked'> & { locked?: bigint }

/** Creates a list over packed records. Throws RangeError if the lengths do not fit whole records. */
export function listFromBytes(bytes: Uint8Array, locked?: Uint8Array): EntryList {
  if (bytes.length % RECORD_BYTES !== 0)
    throw new RangeError(`${bytes.length} bytes are not records of ${RECORD_BYTES}`)
  const count = bytes.length / RECORD_BYTES
  if (locked !== undefined && locked.length !== count * LOCKED_BYTES)
    throw new RangeError(`${locked.length} bytes are not the locked amounts of ${count} entries`)
  return { count, bytes, ...lockedColumn(locked) }
}

/** The locked amounts in a list's form: absent if all of them are 0. */
export function lockedColumn(locked: Uint8Array | undefined): { locked?: Uint8Array } {
  return locked?.some((byte) => byte !== 0) ? { locked } : {}
}

/** Creates a list from entries with amounts in base units. Throws MerkleInputError for invalid or repeated wallets. */
export function listFromEntries(entries: readonly GivenEntry[]): EntryList {
  const bytes = new Uint8Array(entries.length * RECORD_BYTES)
  const column = entries.some(({ locked = 0n }) => locked !== 0n) ? new Uint8Array(entries.length * LOCKED_BYTES) : null
  const positions = new Map<string, number>()
  entries.forEach(({ wallet, amount, locked = 0n }, i) => {
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
    if (column !== null) writeAmount(column, i * LOCKED_BYTES, locked)
    const both = amount + locked
    if (both > MAX_U64) throw new RangeError(`amount and locked amount of ${wallet} add up to ${both}, not a u64`)
  })
  return { count: entries.length, bytes, ...lockedColumn(column ?? undefined) }
}

/** Returns the 32 bytes of a leaf's wallet as a view. */
export function walletAt(list: EntryList, index: number): Uint8Array {
  return list.bytes.subarray(index * RECORD_BYTES, index * RECORD_BYTES + 32)
}

/** Returns the amount of a leaf that can be claimed at once, in base units. */
export function amountAt(list: EntryList, index: number): bigint {
  return amountFrom(list.bytes, index * RECORD_BYTES + 32)
}

/** Returns the locked amount of a leaf in base units. */
export function lockedAt({ locked }: EntryList, index: number): bigint {
  return locked === undefined ? 0n : amountFrom(locked, index * LOCKED_BYTES)
}

/** Returns a leaf with its wallet as base58 text. */
export function entryAt(list: EntryList, index: number): ListEntry {
  const wallet = keyToBase58(list.bytes, index * RECORD_BYTES)
  return { wallet, amount: amountAt(list, index), locked: lockedAt(list, index) }
}

/** Returns what each leaf is given in all, locked part included, in base units and leaf order. */
export function entrySums(list: EntryList): BigUint64Array {
  const { bytes, locked, count } = list
  const sums = new BigUint64Array(count)
  const out = new Uint8Array(sums.buffer)
  for (let i = 0, from = RECORD_BYTES - 8; i < count; i++, from += RECORD_BYTES) {
    for (let at = 0; at < 8; at++) out[i * 8 + at] = bytes[from + at] ?? 0
  }
  for (let i = 0; locked !== undefined && i < count; i++) sums[i] = amountAt(list, i) + lockedAt(list, i)
  return sums
}

/** Returns the sum of amounts in base units; it can exceed u64. */
export const sumOfAmounts = (amounts: BigUint64Array): bigint =>
  sumOf(new Uint8Array(amounts.buffer, amounts.byteOffset, amounts.byteLength), 8, amounts.length)

/**
 * Returns the sum of all amounts, locked ones included, in base units; it can exceed u64, the maximum of a single
 * vault. Throws RangeError for a truncated list.
 */
export function totalAmount(list: EntryList): bigint {
  return list.total ?? sumOf(list.bytes, RECORD_BYTES, list.count) + totalLocked(list)
}

/** Returns the sum of the locked amounts in base units. Throws RangeError for a truncated list. */
export function totalLocked({ locked, count }: EntryList): bigint {
  return locked === undefined ? 0n : sumOf(locked, LOCKED_BYTES, count)
}

/** Adds up the u64 LE at the end of each of `count` rows. */
function sumOf(bytes: Uint8Array, rowBytes: number, count: number): bigint {
  let total = 0n
  let low = 0
  let high = 0
  if (count * rowBytes > bytes.length) throw new RangeError(`${bytes.length} bytes do not hold ${count} entries`)
  for (let i = 0, at = rowBytes - 8; i < count; i++, at += rowBytes) {
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

/**
 * SHA-256 in hex over the records in leaf order, each wallet32 ‖ amount u64 LE, and the locked amount u64 LE if the
 * list has any; equal lists have equal hashes.
 */
export function listHash({ bytes, count, locked }: EntryList): string {
  if (locked === undefined) return hash('sha256', bytes.subarray(0, count * RECORD_BYTES), 'hex')
  const digest = createHash('sha256')
  for (let from = 0; from < count; from += HASHED_ROWS) {
    digest.update(canonicalRows({ bytes, count, locked }, from, Math.min(count, from + HASHED_ROWS)))
  }
  return digest.digest('hex')
}

/**
 * Returns rows `from` to `to` (exclusive) as `listHash` hashes them: 40 bytes each, or 48 in a list with locked
 * amounts.
 */
export function canonicalRows({ bytes, locked }: EntryList, from: number, to: number): Uint8Array {
  const records = bytes.subarray(from * RECORD_BYTES, to * RECORD_BYTES)
  if (locked === undefined) return records
  const rows = new Uint8Array((to - from) * LOCKED_RECORD_BYTES)
  for (let i = 0; i < to - from; i++) {
    const at = i * LOCKED_RECORD_BYTES
    rows.set(records.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES), at)
    rows.set(locked.subarray((from + i) * LOCKED_BYTES, (from + i + 1) * LOCKED_BYTES), at + RECORD_BYTES)
  }
  return rows
}

const LOCKED_RECORD_BYTES = RECORD_BYTES + LOCKED_BYTES
const HASHED_ROWS = 1024

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
    const bytes = list.bytes.subarray(from * RECORD_BYTES, to * RECORD_BYTES)
    const locked = list.locked?.subarray(from * LOCKED_BYTES, to * LOCKED_BYTES)
    shards.push({ count: to - from, bytes, ...lockedColumn(locked) })
  }
  return shards
}
