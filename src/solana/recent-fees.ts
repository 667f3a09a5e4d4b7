/** The price of a compute unit that the recent priority fees of a node suggest. */

const PERCENTILE = 75

/** Returns the 75th percentile by nearest rank, or 0 for an empty list. */
export function percentileOf(fees: readonly bigint[]): bigint {
  const sorted = [...fees].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const rank = Math.ceil((sorted.length * PERCENTILE) / 100)
  return sorted[rank - 1] ?? 0n
}
