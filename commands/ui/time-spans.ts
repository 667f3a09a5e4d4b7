/** Divides a period into hours, days, weeks or longer spans. */
import { DAY_MS, HOUR_MS } from '../../src/platform/timing.ts'

const SPANS = [
  ['hour', HOUR_MS],
  ['6 hours', 6 * HOUR_MS],
  ['day', DAY_MS],
  ['week', 7 * DAY_MS],
  ['30 days', 30 * DAY_MS],
] as const
/** Thirty of them are longer than any record of this program. */
const LONGEST = ['365 days', 365 * DAY_MS] as const
const MOST_SPANS = 30

interface TimeSpans {
  /** The name of one span, such as `day`. */
  name: string
  count: number
  /** The start of the first and of the last span, as ISO dates, for hours with the time; all in UTC. */
  first: string
  last: string
  /** The index of a moment's span. */
  placeOf(at: number): number
}

/** The shortest spans of which at most 30 cover all moments, in Unix milliseconds; null without a moment. */
export function timeSpans(moments: readonly number[]): TimeSpans | null {
  if (moments.length === 0) return null
  const earliest = moments.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  const latest = moments.reduce((most, at) => Math.max(most, at), Number.NEGATIVE_INFINITY)
  const countOf = (ms: number) => Math.floor(latest / ms) - Math.floor(earliest / ms) + 1
  const [name, ms] = SPANS.find(([, each]) => countOf(each) <= MOST_SPANS) ?? LONGEST
  const [begin, count] = [Math.floor(earliest / ms), Math.min(countOf(ms), MOST_SPANS)]
  const text = (place: number) => {
    const iso = new Date((begin + place) * ms).toISOString()
    return ms < DAY_MS ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}` : iso.slice(0, 10)
  }
  return {
    name,
    count,
    first: text(0),
    last: text(count - 1),
    placeOf: (at) => Math.max(0, Math.min(count - 1, Math.floor(at / ms) - begin)),
  }
}
