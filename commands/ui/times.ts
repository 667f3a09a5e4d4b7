/** Writes times: in the local zone on a terminal, in UTC as ISO 8601 elsewhere. */
import { terminal } from '../cli/terminal.ts'

const two = (number: number) => String(number).padStart(2, '0')

/** A time without its zone, such as `2026-11-22 07:31:20`; a value that is not a time is returned unchanged. */
export function localTime(moment: string | number): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return String(moment)
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

/** The local zone at that moment: `UTC`, or an offset such as `+01:00`. */
export function zoneOf(moment: string | number): string {
  const minutes = -new Date(moment).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`
}

/** `2026-11-22 07:31:20 +01:00` on a terminal, `2026-11-22T06:31:20Z` elsewhere. */
export function timeText(moment: string | number, isTerminal = Boolean(terminal().stdout.isTTY)): string {
  const date = new Date(moment)
  if (Number.isNaN(date.getTime())) return String(moment)
  return isTerminal ? `${localTime(moment)} ${zoneOf(moment)}` : date.toISOString().replace('.000', '')
}

const NAMES_A_MOMENT = /(?:^|_)(?:at|since|until)$|^timestamp$/
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/**
 * The Unix milliseconds of a field with a time, in ISO 8601 or, for `created`, in Unix seconds; null for any other
 * field.
 */
export function momentIn(name: string, value: unknown): number | null {
  if (name === 'created' && typeof value === 'number') return value * 1000
  return NAMES_A_MOMENT.test(name) && typeof value === 'string' && ISO.test(value) ? Date.parse(value) : null
}
