/** Moments of the chain as people read them. */

/** ISO 8601; null for what no calendar has. */
export function isoOfUnixTime(unixSeconds: bigint): string | null {
  const milliseconds = Number(unixSeconds) * 1000
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : null
}

/** The same where there must be words. */
export const describeUnixTime = (unixSeconds: bigint): string =>
  isoOfUnixTime(unixSeconds) ?? `Unix time ${unixSeconds}`
