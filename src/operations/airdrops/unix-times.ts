/** Formats times of the chain, in Unix seconds, for users. */

/** Returns ISO 8601, or null for a time outside the calendar. */
export function isoOfUnixTime(unixSeconds: bigint): string | null {
  const milliseconds = Number(unixSeconds) * 1000
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : null
}

/** Returns ISO 8601, or the number itself for a time outside the calendar. */
export const describeUnixTime = (unixSeconds: bigint): string =>
  isoOfUnixTime(unixSeconds) ?? `Unix time ${unixSeconds}`
