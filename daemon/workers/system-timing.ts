/** The timers and schedules of the system. */
import { everySlot } from './cron.ts'
import type { Timing } from './timing.ts'

export const systemTiming: Timing = {
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
  every: (schedule, act) => everySlot(schedule, act, systemTiming),
  elapsed: () => performance.now(),
}
