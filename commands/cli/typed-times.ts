/** Reads times and spans such as `2028-01-01` and `365d` that people type, in Unix seconds. */
import { calendarMoment, momentFault } from '../../src/platform/calendar.ts'
import { DAY_SECONDS } from '../../src/platform/timing.ts'
import { usage } from '../ui/problem.ts'

const A_TIME = 'a time in ISO 8601 with a zone'
const UNITS: Readonly<Record<string, number>> = {
  s: 1,
  min: 60,
  h: 3_600,
  d: DAY_SECONDS,
  w: 7 * DAY_SECONDS,
  y: 365 * DAY_SECONDS,
}
const SPAN = /^(\d{1,12})(s|min|h|d|w|y)$/

export const isoOf = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString()

/** Unix seconds of a time with a zone, or of the beginning of a date in UTC; null for another text. */
export function momentOf(typed: string): bigint | null {
  const at = calendarMoment(typed)
  return at === null ? null : BigInt(Math.floor(at / 1000))
}

/** Seconds of a span; null for another text. */
export function spanOf(typed: string): bigint | null {
  const [, count, unit] = SPAN.exec(typed) ?? []
  return count === undefined ? null : BigInt(count) * BigInt(UNITS[unit ?? ''] ?? 0)
}

/** Throws a usage problem that names `shown` for anything but a time. */
export function requireMoment(typed: string, shown: string, wanted = A_TIME): bigint {
  const at = momentOf(typed)
  if (at === null) throw usage(`${shown} ${momentFault(typed, wanted)}`, { param: shown })
  return at
}

/** A time, or that of a span after `from`. Throws a usage problem that names `shown` for anything else. */
export function requireMomentFrom(typed: string, shown: string, from: bigint): bigint {
  const span = spanOf(typed)
  return span === null ? requireMoment(typed, shown, `${A_TIME}, or a span such as 365d`) : from + span
}

/** Throws a usage problem that names `shown` for anything but a span of a second or more. */
export function requireSpan(typed: string, shown: string): bigint {
  const span = spanOf(typed)
  if (span) return span
  throw usage(`${shown} must be a span such as 30d or 12h, not "${typed}"`, { param: shown })
}
