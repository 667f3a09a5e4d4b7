/** Moments as a person reads them: the date and time of this machine's zone. */

const two = (number: number) => String(number).padStart(2, '0')

/** `2026-11-22 07:31:20`; what is no moment comes back as it is. */
export function localTime(moment: string | number): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return String(moment)
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

/** Date, time and distance from UTC, for a moment that stands alone: `2026-11-22 07:31:20 +01:00`. */
export function zonedTime(moment: string | number): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return String(moment)
  const minutes = -date.getTimezoneOffset()
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${localTime(moment)} ${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`
}

const NAMES_A_MOMENT = /(?:^|_)at$|^timestamp$/
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** Milliseconds of a field that holds a moment, as ISO 8601 or, in `created`, in Unix seconds; null for any other field. */
export function momentIn(name: string, value: unknown): number | null {
  if (name === 'created' && typeof value === 'number') return value * 1000
  return NAMES_A_MOMENT.test(name) && typeof value === 'string' && ISO.test(value) ? Date.parse(value) : null
}
