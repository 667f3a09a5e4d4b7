/** Reads the dates and times that people, files and requests write: only those that exist. */

const MOMENT =
  /^(?<date>\d{4}-(?<month>\d{2})-(?<day>\d{2}))(?:T(?<clock>(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)(?<zone>Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d))?$/i

/** Days of a month from 1 to 12 in the Gregorian calendar. */
function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/**
 * Unix milliseconds of a time in ISO 8601 with a zone, or of the beginning of a date in UTC. Null for another text, and
 * for a day that does not exist, which `Date.parse` moves to a later one.
 */
export function calendarMoment(text: string): number | null {
  const parts = MOMENT.exec(text)?.groups
  if (parts === undefined || missingDay(text) !== null) return null
  const { date, clock = '00:00', zone = 'Z' } = parts
  const at = Date.parse(`${date}T${clock}${zone.replace(/^(.\d\d)(\d\d)$/, '$1:$2').toUpperCase()}`)
  return Number.isNaN(at) ? null : at
}

/** Why the date that a text begins with does not exist; null if it does, or for a text that begins with none. */
function missingDay(text: string): string | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined) return null
  if (month < 1 || month > 12) return 'a year has the months 01 to 12'
  const days = daysOf(year, month)
  return day >= 1 && day <= days ? null : `that month has the days 01 to ${days}`
}

/** What is wrong with a text for which `calendarMoment` is null, after the name of its field; `wanted` says what it must be. */
export function momentFault(text: string, wanted: string): string {
  const missing = missingDay(text)
  return missing === null ? `must be ${wanted}, not "${text}"` : `is "${text}", a date that does not exist: ${missing}`
}
