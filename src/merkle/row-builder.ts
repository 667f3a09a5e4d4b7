/** Collects the records of a reader, then rejects repeated wallets or sums their amounts at the first position. */

import { randomBytes } from 'node:crypto'
import { MOST_ROUNDS } from '../solana/constants.ts'
import { MAX_U64 } from '../solana/u64.ts'
import { amountFrom, writeAmount } from './amounts.ts'
import { keyToBase58 } from './base58.ts'
import { type EntryList, LOCKED_BYTES, lockedAt, lockedColumn, RECORD_BYTES } from './entry-list.ts'

/** Handling of repeated wallets: an error, or one leaf with the sum of the amounts. */
export type DuplicateMode = 'reject' | 'sum'

export interface SettledRows {
  list: EntryList
  /** Number of rows whose amount was added to an earlier row (`sum`). */
  merged: number
  /** Number of leaves with neither an amount nor a locked one; they are valid, but claiming them is pointless. */
  zeroAmounts: number
  /** The round of each entry of an allowlist, from 1; absent for other lists. */
  rounds?: Uint8Array
}

export interface DuplicateFaults {
  /** Reports a wallet at `source` that already occurred at `earlier`. */
  repeated(source: number, earlier: number, record: number): void
  /** Reports a wallet at `source` that differs from the one at `earlier` only in the case of letters. */
  miscased(source: number, earlier: number, record: number): void
  /** Reports that the sum for the wallet of `source`, locked amounts included, exceeds u64. */
  overflowed(source: number, earlier: number, sum: bigint): void
}

/** Appended records, each with its position in the input (a byte offset or an entry number). */
export class RowBuilder {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The round of each record, written before `append`; only an allowlist has it. */
  readonly rounds: Uint8Array | undefined
  private readonly sources: Uint32Array
  /** A case-insensitive hash of each record's wallet text. */
  private readonly hashes: Int32Array
  /** Random for each list, so that no crafted list of wallets can cause collisions. */
  private readonly keys = new Int32Array(new Uint8Array(randomBytes(12)).buffer)
  /** Locked amounts of 8 bytes each; created with the first that is not 0. */
  private locked: Uint8Array<ArrayBuffer> | undefined
  count = 0

  /**
   * `capacity` is the maximum number of rows in the input. A too generous estimate costs memory: the allocator clears
   * what it takes from its arenas and keeps it.
   */
  constructor(capacity: number, { hasRounds = false } = {}) {
    this.bytes = new Uint8Array(capacity * RECORD_BYTES)
    this.rounds = hasRounds ? new Uint8Array(capacity) : undefined
    this.sources = new Uint32Array(capacity)
    this.hashes = new Int32Array(capacity)
  }

  /** Offset at which the caller writes the next record before `append`. */
  get at(): number {
    return this.count * RECORD_BYTES
  }

  /**
   * Sets the locked amount (u64 LE) of a record whose amount is written; false if their sum exceeds u64.
   */
  lock(record: number, locked: Uint8Array): boolean {
    if (locked.every((byte) => byte === 0)) return true
    if (amountFrom(this.bytes, record * RECORD_BYTES + 32) + amountFrom(locked, 0) > MAX_U64) return false
    this.locked ??= new Uint8Array((this.bytes.length / RECORD_BYTES) * LOCKED_BYTES)
    this.locked.set(locked, record * LOCKED_BYTES)
    return true
  }

  /** Adds the record at `at`, whose wallet is base58 in `text[start, end)`. */
  append(source: number, text: Uint8Array, start: number, end: number): void {
    const [k0 = 1, k1 = 1, k2 = 1] = this.keys
    let mixed = k0
    for (let i = start; i < end; i += 4) {
      // The bit by which capital and small letters differ is set in every digit too.
      const word = (text[i] ?? 0) | ((text[i + 1] ?? 0) << 8) | ((text[i + 2] ?? 0) << 16) | ((text[i + 3] ?? 0) << 24)
      const kept = end - i < 4 ? word & ((1 << (8 * (end - i))) - 1) : word
      mixed = Math.imul(mixed ^ (kept | 0x20202020), k1 | 1)
      mixed = (mixed << 13) | (mixed >>> 19)
      mixed ^= mixed >>> 16
    }
    mixed = Math.imul(mixed ^ k2, 0x9e3779b1)
    this.hashes[this.count] = mixed ^ (mixed >>> 15)
    this.sources[this.count++] = source
  }

  /** Merges or reports duplicates and returns the list in the order of first occurrence. */
  settle(mode: DuplicateMode, faults: DuplicateFaults): SettledRows {
    const { bytes, sources, hashes, locked, rounds } = this
    const words = new Int32Array(bytes.buffer)
    let slots = 16
    while (slots < 2 * this.count) slots *= 2
    const table = new Int32Array(slots).fill(-1)
    let distinct = 0
    for (let i = 0; i < this.count; i++) {
      const row = i * 10
      const hash = hashes[i] ?? 0
      let slot = hash & (slots - 1)
      let earlier = table[slot] ?? 0
      let miscased = -1
      while (earlier >= 0) {
        const isSame = sameWallet(words, earlier * 10, row)
        if (isSame && rounds?.[earlier] === rounds?.[i]) break
        if (!isSame && hashes[earlier] === hash && this.isSameIgnoringCase(earlier, i)) miscased = earlier
        slot = (slot + 1) & (slots - 1)
        earlier = table[slot] ?? 0
      }
      if (miscased >= 0) faults.miscased(sources[i] ?? 0, sources[miscased] ?? 0, i)
      if (earlier >= 0) {
        const source = sources[i] ?? 0
        if (mode === 'reject') faults.repeated(source, sources[earlier] ?? 0, i)
        else {
          const sum = this.merge(earlier, i)
          if (sum > MAX_U64) faults.overflowed(source, sources[earlier] ?? 0, sum)
        }
        continue
      }
      table[slot] = distinct
      if (distinct !== i) {
        for (let w = 0; w < 10; w++) words[distinct * 10 + w] = words[row + w] ?? 0
        sources[distinct] = sources[i] ?? 0
        hashes[distinct] = hash
        locked?.copyWithin(distinct * LOCKED_BYTES, i * LOCKED_BYTES, (i + 1) * LOCKED_BYTES)
        rounds?.copyWithin(distinct, i, i + 1)
      }
      distinct++
    }
    const merged = this.count - distinct
    this.count = distinct
    const column = lockedColumn(locked?.subarray(0, distinct * LOCKED_BYTES))
    const list = { count: distinct, bytes: bytes.subarray(0, distinct * RECORD_BYTES), ...column }
    let zeroAmounts = 0
    for (let i = 0; i < distinct; i++) {
      if (words[i * 10 + 8] === 0 && words[i * 10 + 9] === 0 && lockedAt(list, i) === 0n) zeroAmounts++
    }
    return { list, merged, zeroAmounts, ...(rounds && { rounds: rounds.subarray(0, distinct) }) }
  }

  private isSameIgnoringCase(a: number, b: number): boolean {
    const [one, other] = [a, b].map((record) => keyToBase58(this.bytes, record * RECORD_BYTES).toLowerCase())
    return one === other
  }

  /**
   * Adds the amounts of a record to those of an earlier one; returns the wallet's total. If it exceeds u64, nothing is
   * added.
   */
  private merge(earlier: number, record: number): bigint {
    const { bytes, locked } = this
    const at = earlier * RECORD_BYTES + 32
    const amount = amountFrom(bytes, at) + amountFrom(bytes, record * RECORD_BYTES + 32)
    const both = locked ? amountFrom(locked, earlier * LOCKED_BYTES) + amountFrom(locked, record * LOCKED_BYTES) : 0n
    if (amount + both > MAX_U64) return amount + both
    writeAmount(bytes, at, amount)
    if (locked) writeAmount(locked, earlier * LOCKED_BYTES, both)
    return amount + both
  }
}

export const ROUND_FAULT = `is not a round: rounds count from 1 to ${MOST_ROUNDS}`

/** The round of a text; undefined for any other text. */
export const roundOf = (text: string): number | undefined =>
  /^[1-9]$/.test(text) && Number(text) <= MOST_ROUNDS ? Number(text) : undefined

function sameWallet(words: Int32Array, a: number, b: number): boolean {
  for (let w = 0; w < 8; w++) if (words[a + w] !== words[b + w]) return false
  return true
}
