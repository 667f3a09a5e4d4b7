/** Finds wallets that stand twice; keeps the first record of each, with the sum of the amounts where that is asked for. */
import { RECORD_BYTES } from './records'

/** Number of distinct records so far, at the start of the records. */
export let distinct: u32 = 0
/** Number of distinct records whose amount is 0. */
export let zeroAmounts: u32 = 0

let table: usize = 0
/** Number of slots less one; the number is a power of two above that of the records. */
let mask: u32 = 0
let key0: u64 = 0
let key1: u64 = 0

/** Clears a table of `slots` u32 at `at`. The keys are random for each list, so that no crafted list collides. */
export function startDuplicates(at: usize, slots: u32, randomA: u64, randomB: u64): void {
  memory.fill(at, 0, 4 * <usize>slots)
  table = at
  mask = slots - 1
  key0 = randomA
  key1 = randomB | 1
  distinct = 0
  zeroAmounts = 0
}

function mixed(hash: u64, word: u64): u64 {
  const product = (hash ^ word) * key1
  return product ^ (product >> 32)
}

function hashOf(record: usize): u64 {
  const hash = mixed(mixed(key0, load<u64>(record)), load<u64>(record, 8))
  return mixed(mixed(hash, load<u64>(record, 16)), load<u64>(record, 24))
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
    let slot = <u32>hash & mask
    // A slot holds the number of a record plus one in its low bits, and in the others bits of its hash.
    const tag = <u32>(hash >> 32) & ~mask
    let held = load<u32>(table + 4 * <usize>slot)
    let earlier: usize = 0
    while (held !== 0) {
      earlier = records + RECORD_BYTES * <usize>((held & mask) - 1)
      if ((held & ~mask) === tag && isSameWallet(earlier, record)) break
      slot = (slot + 1) & mask
      held = load<u32>(table + 4 * <usize>slot)
    }
    const amount = load<u64>(record, 32)
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
