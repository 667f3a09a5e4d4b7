/** Computes when a followed transaction is looked for again. */
import { HOUR_MS, MINUTE_MS } from '../platform/timing.ts'
import type { FollowedTransaction } from '../store/transactions/transactions.ts'

/** Most transactions that are not confirmed within a minute never will be. */
export const YOUNG_TRANSACTION_MS = 60_000
/** An older transaction that is still not proven expired waits for a node with a longer history. */
const ANCIENT_TRANSACTION_MS = HOUR_MS
/** Without any evidence for a day, it stays as it is, and is looked for once in an hour. */
export const UNSEEN_DAY_MS = 24 * HOUR_MS
const LOOK_WAIT_MS = { young: 2_000, old: 5_000, ancient: MINUTE_MS, unseen: HOUR_MS }
/** Shortest and longest wait for the finality of a confirmed transaction. */
const LEAST_FINALITY_WAIT_MS = 200
const MOST_FINALITY_WAIT_MS = 6_000
export const LONGEST_LOOK_WAIT_MS = LOOK_WAIT_MS.unseen

/** Milliseconds from `now` to the next look, half of the `finalityMs` of the cluster for a confirmed transaction. */
export function lookWaitOf(
  { lifecycle, created_at }: Pick<FollowedTransaction, 'lifecycle' | 'created_at'>,
  { now, finalityMs }: { now: number; finalityMs: number },
): number {
  if (lifecycle === 'confirmed' || lifecycle === 'failed') {
    return Math.min(MOST_FINALITY_WAIT_MS, Math.max(LEAST_FINALITY_WAIT_MS, finalityMs / 2))
  }
  if (now - created_at > UNSEEN_DAY_MS) return LOOK_WAIT_MS.unseen
  if (now - created_at > ANCIENT_TRANSACTION_MS) return LOOK_WAIT_MS.ancient
  return now - created_at > YOUNG_TRANSACTION_MS ? LOOK_WAIT_MS.old : LOOK_WAIT_MS.young
}

/** Groups rows with the same wait, so that they are written together. */
export function groupByWait(
  rows: readonly FollowedTransaction[],
  waitOf: (row: FollowedTransaction) => number,
): Map<number, FollowedTransaction[]> {
  const groups = new Map<number, FollowedTransaction[]>()
  for (const row of rows) {
    const wait = waitOf(row)
    const group = groups.get(wait)
    if (group === undefined) groups.set(wait, [row])
    else group.push(row)
  }
  return groups
}

/** Approximate time between two rounds, in milliseconds. Rotations advance once in this time. */
const ROUND_EVERY_MS = 2_000

/**
 * Rotates the items by `step` more in each round, so that each comes first at some time if a round cannot cover all.
 */
export function rotated<T>(items: readonly T[], step: number, now: number): T[] {
  const first = items.length === 0 ? 0 : (Math.floor(now / ROUND_EVERY_MS) * step) % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}
