/** The moments of a worker's schedule: a task of node-cron, which is made anew whenever the clock was set. */

import { schedule } from 'node-cron'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/timing.ts'
import type { Timing, WorkerSchedule } from './timing.ts'

/** Longest until a clock that was set is noticed, where the next moment is not nearer. */
const CLOCK_LOOK_MS = 10_000
/** The clock is looked at so much ahead of each moment, so that node-cron never meets one that leapt. */
const CLOCK_LOOK_LEAD_MS = 2
/** A look that comes further than this from when it was due shows that the clock was set, or the process held up. */
const CLOCK_LOOK_SLACK_MS = 1_000

/** The fields of a cron expression: milliseconds of a unit of time, and how many of them the next unit has. */
const CRON_FIELDS = [
  [SECOND_MS, 60],
  [MINUTE_MS, 60],
  [HOUR_MS, 24],
] as const

/** The cron expression, in UTC and with seconds, that matches exactly the moments of a schedule. */
export function cronExpression({ everyMs, offsetMs = 0 }: WorkerSchedule): string {
  const fields = CRON_FIELDS.map(([unitMs, count]) => {
    const step = everyMs / unitMs
    const at = Math.floor(offsetMs / unitMs) % count
    if (step <= 1) return '*'
    if (!Number.isInteger(step)) return undefined
    if (step % count === 0) return `${at}`
    if (count % step === 0) return `${at % step}-${count - 1}/${step}`
    return undefined
  })
  const isWhole = everyMs >= 1_000 && everyMs <= DAY_MS && offsetMs >= 0 && offsetMs % 1_000 === 0
  if (!isWhole || fields.includes(undefined)) {
    throw new Error(`no cron expression comes every ${everyMs} ms, ${offsetMs} ms after each multiple`)
  }
  return `${fields.join(' ')} * * *`
}

/**
 * Runs `act` at every moment of a schedule. By itself node-cron sleeps for up to a day after the clock was set back, and
 * steps through every moment that a leap ahead has passed. A timer, which no setting moves, looks for both before it does.
 */
export function everySlot(
  period: WorkerSchedule,
  act: (slot: number) => void,
  { after }: Pick<Timing, 'after'>,
): () => void {
  const { everyMs, offsetMs = 0 } = period
  const expression = cronExpression(period)
  // A moment that a busy process comes to late is still done, up to the next one: nothing to warn of.
  const options = { timezone: 'Etc/UTC', missedExecutionTolerance: everyMs, suppressMissedWarning: true }
  const slotAt = (at: number) => Math.floor((at - offsetMs) / everyMs) * everyMs + offsetMs
  let last = slotAt(Date.now())

  function reach(slot: number): void {
    if (slot === last) return
    last = slot
    act(slot)
  }

  const start = () => schedule(expression, ({ date }) => reach(date.getTime()), options)

  function look(): void {
    const ahead = Date.now() + CLOCK_LOOK_LEAD_MS
    const due = Math.min(slotAt(ahead) + everyMs, ahead + CLOCK_LOOK_MS) - CLOCK_LOOK_LEAD_MS
    cancel = after(Math.max(1, due - Date.now()), () => {
      const now = Date.now()
      if (Math.abs(now - due) > CLOCK_LOOK_SLACK_MS) {
        void task.destroy()
        task = start()
        reach(slotAt(now))
      }
      look()
    })
  }

  let task = start()
  let cancel = () => {}
  look()
  return () => {
    cancel()
    void task.destroy()
  }
}
