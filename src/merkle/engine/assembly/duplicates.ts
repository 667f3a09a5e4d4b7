/** Finds repeated wallets; keeps the first record of each, with the sum of the amounts if requested. */
import { HASH_BYTES, RECORD_BYTES } from './records'

/** Number of distinct records so far, at the start of the records. */
export let distinct: u32 = 0
/** Number of distinct records whose amount is 0. */
export let zeroAmounts: u32 = 0
/** Sum of all amounts, in two halves. */
export let totalLow: u64 = 0
export let totalHigh: u64 = 0

let table: usize = 0
/** Number of slots less one; the number is a power of two above that of the records. */
let mask: u32 = 0
/** Clears a table of `slots` u32 at `at`. */
export function startDuplicates(at: usize, slots: u32): void {
  memory.fill(at, 0, 4 * <usize>slots)
  table = at
  mask = slots - 1
  distinct = 0
  zeroAmounts = 0
  totalLow = 0
  totalHigh = 0
}

function isSameWallet(a: usize, b: usize): bool {
  const low = v128.xor(v128.load(a), v128.load(b))
  const high = v128.xor(v128.load(a, 16), v128.load(b, 16))
  return !v128.any_true(v128.or(low, high))
}

/**
 * Keeps the records from number `from` to before `to`, after those that are already kept; `hashes` has the caseless
 * hash of each. False at a repeated wallet (with `sum` only if the amounts exceed u64), and at a wallet that may
 * differ from another only in the case of letters.
 */
export function keepDistinct(records: usize, hashes: usize, from: u32, to: u32, sum: bool): bool {
  for (let i = from; i < to; i++) {
    const record = records + RECORD_BYTES * <usize>i
    const whole = load<u64>(hashes + HASH_BYTES * <usize>i)
    const hash = <u32>(whole >> 32)
    let slot = hash & mask
    // A slot holds the number of a record plus one in its low bits, and in the others bits of its hash.
    const tag = hash & ~mask
    let held = load<u32>(table + 4 * <usize>slot)
    let earlier: usize = 0
    while (held !== 0) {
      const number = <usize>((held & mask) - 1)
      if ((held & ~mask) === tag && load<u64>(hashes + HASH_BYTES * number) === whole) {
        earlier = records + RECORD_BYTES * number
        if (isSameWallet(earlier, record)) break
        return false
      }
      slot = (slot + 1) & mask
      held = load<u32>(table + 4 * <usize>slot)
    }
    const amount = load<u64>(record, 32)
    totalLow += amount
    if (totalLow < amount) totalHigh++
    if (held !== 0) {
      const before = load<u64>(earlier, 32)
      if (!sum || before + amount < before) return false
      store<u64>(earlier, before + amount, 32)
      if (before === 0 && amount !== 0) zeroAmounts--
      continue
    }
    const kept = records + RECORD_BYTES * <usize>distinct
    if (kept !== record) {
      memory.copy(kept, record, RECORD_BYTES)
      store<u64>(hashes + HASH_BYTES * <usize>distinct, whole)
    }
    store<u32>(table + 4 * <usize>slot, tag | ++distinct)
    if (amount === 0) zeroAmounts++
  }
  return true
}
