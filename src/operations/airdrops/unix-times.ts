/** Times of the chain, in Unix seconds, as people read them. */

/** ISO 8601; null for what no calendar has. */
export function isoOfUnixTime(unixSeconds: bigint): string | null {
  const milliseconds = Number(unixSeconds) * 1000
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : null
}

/** ISO 8601, or the number itself where no calendar has the time. */
export const describeUnixTime = (unixSeconds: bigint): string =>
  isoOfUnixTime(unixSeconds) ?? `Unix time ${unixSeconds}`
