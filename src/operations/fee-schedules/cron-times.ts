/** The times of a cron expression in a time zone, computed by node-cron for any moment. */
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'

export interface CronTimes {
  /** The first time after a moment, in Unix milliseconds. */
  after(at: number): number
  /** The last time up to and including `until`, and the number of times from `from` on before it, up to `most`. */
  lastUntil(until: number, from: number, most: number): { at: number; before: number; previous: number | null } | null
}

/** Has what node-cron computes times with; its own methods begin at the system's clock. */
interface MatchingTask {
  timeMatcher: { getNextMatch(date: Date): Date }
}

/** Characters of an expression; node-cron would make a list of every number in a range before it looks at its bounds. */
const WELL_FORMED = /^(?!.*\d{3})[A-Za-z0-9*/,#?@ -]+$/
const FIELDS = 5
const NICKNAME = /^@[a-z]+$/i

/** Throws bad_request naming `cron` or `timezone`, also where no time comes after `now` in Unix milliseconds. */
export async function openCron(cron: string, timezone: string, now: number): Promise<CronTimes> {
  requireTimezone(timezone)
  const { createTask, validateDetailed } = await import('node-cron')
  const text = cron.trim()
  const isPlain = NICKNAME.test(text) || text.split(/ +/).length === FIELDS
  if (!isPlain) throw badCron(cron, 'it must have five fields')
  if (!WELL_FORMED.test(text)) throw badCron(cron, 'a number or a character is none of a schedule')
  const { valid, errors } = validateDetailed(text)
  if (!valid) throw badCron(cron, faultText(errors[0]))
  const task = createTask(text, () => undefined, { timezone })
  void task.destroy()
  const { timeMatcher } = task as unknown as MatchingTask
  const after = (at: number) => timeMatcher.getNextMatch(new Date(at)).getTime()
  try {
    after(now)
  } catch {
    throw badCron(cron, `no time to come fits it in ${timezone}`)
  }
  return {
    after,
    lastUntil(until, from, most) {
      const at = lastMatch(after, until, from)
      if (at === null) return null
      let [before, previous, next]: [number, number | null, number] = [0, null, after(from - 1)]
      for (; next < at && before < most; next = after(next)) before++
      if (before > 0) previous = lastMatch(after, at - 1, from)
      return { at, before, previous }
    },
  }
}

/** Looks back in windows that double, so that a year of missed minutes is not stepped through. */
function lastMatch(after: (at: number) => number, until: number, from: number): number | null {
  for (let window = MINUTE_MS; ; window *= 2) {
    const start = Math.max(until - window, from - 1)
    let last = after(start)
    if (last <= until) {
      for (let next = after(last); next <= until; next = after(next)) last = next
      return last
    }
    if (start === from - 1) return null
  }
}

/** Names of the fields, where they are not as node-cron calls them. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  dayOfMonth: 'day of month',
  dayOfWeek: 'day of week',
}

/** What is wrong with a field, in other words than node-cron's. */
function faultText(fault: { field: string; value?: string } | undefined): string {
  if (fault?.value === undefined || fault.field === 'expression')
    return 'it is neither five fields nor a name as @daily'
  const { field, value } = fault
  if (field === 'dayOfMonth' && Number(value) >= 1 && Number(value) <= 31)
    return `no month that it names has a day ${value}`
  return `its ${FIELD_NAMES[field] ?? field} cannot be ${value}`
}

/** An offset such as +02:00 is none: it would not follow the clocks of a place. */
function requireTimezone(timezone: string): void {
  const isName = /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(timezone)
  try {
    if (isName) return void new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {}
  throw badRequest(`timezone: there is no time zone "${timezone}": name one as in Europe/Zurich, or UTC`, {
    param: 'timezone',
  })
}

const badCron = (cron: string, why: string): ApiError =>
  badRequest(
    `cron: "${cron}" is no schedule: ${why} (minute, hour, day of month, month, day of week), as 0 6 * * * for every day at six`,
    { param: 'cron' },
  )
