/** Computes the times of a cron expression in a time zone with node-cron, from any moment. */
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/timing.ts'

export interface CronTimes {
  /** The first time after a moment, in Unix milliseconds. */
  after(at: number): number
  /** The last time up to and including `until`. `before` counts the earlier times since `from`, up to `most`. */
  lastUntil(until: number, from: number, most: number): { at: number; before: number; previous: number | null } | null
}

/** The part of node-cron that computes times. Its public methods start at the system's clock. */
interface MatchingTask {
  timeMatcher: { getNextMatch(date: Date): Date }
}

/**
 * Permitted characters, and numbers of two digits at most. node-cron would list every number of a range before it
 * checks the bounds.
 */
const WELL_FORMED = /^(?!.*\d{3})[A-Za-z0-9*/,#?@ -]+$/
const FIELDS = 5
const NICKNAME = /^@[a-z]+$/i

/** Throws bad_request naming `cron` or `timezone`, also if there is no time after `now` (Unix milliseconds). */
export async function openCron(cron: string, timezone: string, now: number): Promise<CronTimes> {
  requireTimezone(timezone)
  const { createTask, validateDetailed } = await import('node-cron')
  const text = cron.trim()
  const isPlain = NICKNAME.test(text) || text.split(/ +/).length === FIELDS
  if (!isPlain) throw badCron(cron, 'it must have five fields')
  if (!WELL_FORMED.test(text)) throw badCron(cron, 'it contains a number or a character that no schedule has')
  const { valid, errors } = validateDetailed(text)
  if (!valid) throw badCron(cron, faultText(errors[0]))
  const task = createTask(text, () => undefined, { timezone })
  void task.destroy()
  const { timeMatcher } = task as unknown as MatchingTask
  const after = (at: number) => timeMatcher.getNextMatch(new Date(at)).getTime()
  try {
    after(now)
  } catch {
    throw badCron(cron, `it has no future time in ${timezone}`)
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

/** Looks back in windows that double, so that it does not step through a year of missed minutes. */
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

/** Names of fields that node-cron calls differently. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  dayOfMonth: 'day of month',
  dayOfWeek: 'day of week',
}

/** Describes the error in a field, in other words than node-cron's. */
function faultText(fault: { field: string; value?: string } | undefined): string {
  if (fault?.value === undefined || fault.field === 'expression')
    return 'it is neither five fields nor a name such as @daily'
  const { field, value } = fault
  if (field === 'dayOfMonth' && Number(value) >= 1 && Number(value) <= 31)
    return `none of its months has a day ${value}`
  return `its ${FIELD_NAMES[field] ?? field} cannot be ${value}`
}

/** An offset such as +02:00 is refused, because it does not follow daylight saving time. */
function requireTimezone(timezone: string): void {
  const isName = /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(timezone)
  try {
    if (isName) return void new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {}
  throw badRequest(`timezone: there is no time zone "${timezone}": use a name such as Europe/Zurich, or UTC`, {
    param: 'timezone',
  })
}

const badCron = (cron: string, why: string): ApiError =>
  badRequest(
    `cron: "${cron}" is not a schedule: ${why}. The fields are minute, hour, day of month, month, day of week; for example 0 6 * * * for every day at six`,
    { param: 'cron' },
  )
