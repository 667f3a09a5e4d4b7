/** Parts of an amount in hundredths of a percent. */

const WHOLE_BPS = 10_000n

/** Rounds down; a part of nothing is 0, and no part exceeds the whole. */
export function bpsOf(part: bigint, whole: bigint): number {
  if (whole <= 0n || part <= 0n) return 0
  return part >= whole ? Number(WHOLE_BPS) : Number((part * WHOLE_BPS) / whole)
}
