/** Finds wallets that stand twice; keeps the first record of each, with the sum of the amounts where that is asked for. */
import { RECORD_BYTES } from './records'

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
/** One u64 for each u32 of a wallet, and one more. */
const KEYS_BYTES: i32 = 72
const keys: usize = memory.data(KEYS_BYTES, 16)

/** Where the host puts 72 random bytes before each list. */
export function hashKeys(): usize {
  return keys
}

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

/**
 * Multiply-shift with a key for each u32 and only the high half of the sum: two wallets have the same one of n values
 * with a probability of about 1 / n, however they were crafted, because their author does not know the keys.
 */
function hashOf(record: usize): u32 {
  let sum = load<u64>(keys, 64)
  for (let i: usize = 0; i < 32; i += 4) sum += load<u64>(keys + 2 * i) * <u64>load<u32>(record + i)
  return <u32>(sum >> 32)
}

function isSameWallet(a: usize, b: usize): bool {
  const low = v128.xor(v128.load(a), v128.load(b))
  const high = v128.xor(v128.load(a, 16), v128.load(b, 16))
  return !v128.any_true(v128.or(low, high))
}

/**
 * Keeps the records from number `from` to before `to`, after those that are kept already. False at a wallet that stands
 * twice, with `sum` only where the amounts add up to more than u64 holds.
 */
export function keepDistinct(records: usize, from: u32, to: u32, sum: bool): bool {
  for (let i = from; i < to; i++) {
    const record = records + RECORD_BYTES * <usize>i
    const hash = hashOf(record)
    let slot = hash & mask
    // A slot holds the number of a record plus one in its low bits, and in the others bits of its hash.
    const tag = hash & ~mask
    let held = load<u32>(table + 4 * <usize>slot)
    let earlier: usize = 0
    while (held !== 0) {
      earlier = records + RECORD_BYTES * <usize>((held & mask) - 1)
      if ((held & ~mask) === tag && isSameWallet(earlier, record)) break
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
    if (kept !== record) memory.copy(kept, record, RECORD_BYTES)
    store<u32>(table + 4 * <usize>slot, tag | ++distinct)
    if (amount === 0) zeroAmounts++
  }
  return true
}
