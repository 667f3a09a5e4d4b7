/** Differences between two recipient lists: added and removed wallets, changed amounts, and a changed order. */
import { amountAt, type EntryList, entryAt, type ListEntry, lockedAt, RECORD_BYTES } from './entry-list.ts'

interface ListDiff {
  /** Entries only in the later list, in its order. */
  added: ListEntry[]
  /** Entries only in the earlier list, in its order. */
  removed: ListEntry[]
  /** Wallets with different amounts, in the order of the later list. */
  changed: ChangedEntry[]
  unchanged: number
  /** Whether the common wallets have a different order; then the roots differ even without other changes. */
  reordered: boolean
}

/** One wallet's amounts in both lists: claimable at once, and locked. */
interface ChangedEntry {
  wallet: string
  before: bigint
  after: bigint
  lockedBefore: bigint
  lockedAfter: bigint
}

/** Compares two lists of distinct wallets; amounts in base units. */
export function diffLists(before: EntryList, after: EntryList): ListDiff {
  const diff: ListDiff = { added: [], removed: [], changed: [], unchanged: 0, reordered: false }
  const places = new Map<string, number>()
  for (let i = 0; i < before.count; i++) places.set(walletKey(before, i), i)
  let last = -1
  for (let i = 0; i < after.count; i++) {
    const key = walletKey(after, i)
    const place = places.get(key)
    if (place === undefined) {
      diff.added.push(entryAt(after, i))
      continue
    }
    places.delete(key)
    if (place < last) diff.reordered = true
    last = place
    const amounts = { before: amountAt(before, place), after: amountAt(after, i) }
    const locked = { lockedBefore: lockedAt(before, place), lockedAfter: lockedAt(after, i) }
    if (amounts.before === amounts.after && locked.lockedBefore === locked.lockedAfter) diff.unchanged++
    else diff.changed.push({ wallet: entryAt(after, i).wallet, ...amounts, ...locked })
  }
  for (const place of places.values()) diff.removed.push(entryAt(before, place))
  return diff
}

function walletKey(list: EntryList, index: number): string {
  const { bytes } = list
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(
    'latin1',
    index * RECORD_BYTES,
    index * RECORD_BYTES + 32,
  )
}
