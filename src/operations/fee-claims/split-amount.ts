/** Divides an amount by basis points, exactly and with the same result on every run. */

const FULL_SHARE_BPS = 10_000n

/**
 * Each share is rounded down. The remaining units go one each to the largest fractions; of equal ones the earlier is
 * first. `bps` must sum to 10,000.
 */
export function splitAmount(amount: bigint, bps: readonly number[]): bigint[] {
  const shares = bps.map((part) => (amount * BigInt(part)) / FULL_SHARE_BPS)
  const fractions = bps.map((part) => (amount * BigInt(part)) % FULL_SHARE_BPS)
  const left = Number(amount - shares.reduce((sum, share) => sum + share, 0n))
  const byFraction = fractions
    .map((fraction, place) => ({ fraction, place }))
    .sort((a, b) => (a.fraction === b.fraction ? a.place - b.place : a.fraction < b.fraction ? 1 : -1))
  const raised = new Set(byFraction.slice(0, left).map(({ place }) => place))
  return shares.map((share, place) => (raised.has(place) ? share + 1n : share))
}
