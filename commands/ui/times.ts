/** Formats times for a terminal, as date and time in the local zone. */

const two = (number: number) => String(number).padStart(2, '0')

/** A time such as `2026-11-22 07:31:20`; a value that is not a time is returned unchanged. */
export function localTime(moment: string | number): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return String(moment)
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

/** A time with its offset from UTC, for use outside tables: `2026-11-22 07:31:20 +01:00`. */
export function zonedTime(moment: string | number): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return String(moment)
  const minutes = -date.getTimezoneOffset()
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${localTime(moment)} ${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`
}

const NAMES_A_MOMENT = /(?:^|_)at$|^timestamp$/
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/**
 * The Unix milliseconds of a field with a time, in ISO 8601 or, for `created`, in Unix seconds; null for any other
 * field.
 */
export function momentIn(name: string, value: unknown): number | null {
  if (name === 'created' && typeof value === 'number') return value * 1000
  return NAMES_A_MOMENT.test(name) && typeof value === 'string' && ISO.test(value) ? Date.parse(value) : null
}
