/** The schedules and timers of the workers, which a test can replace. */
import { everySlot } from './cron.ts'

/** Regular moments of Unix time: one every `everyMs` milliseconds, `offsetMs` after each multiple of it. */
export interface WorkerSchedule {
  everyMs: number
  offsetMs?: number
}

export interface Timing {
  /** Runs `act` once after so many milliseconds; the returned function cancels it. */
  after(milliseconds: number, act: () => void): () => void
  /** Runs `act` at every moment (`slot`, Unix milliseconds) of a schedule; the returned function ends that. */
  every(schedule: WorkerSchedule, act: (slot: number) => void): () => void
  /** Milliseconds of a monotonic clock. */
  elapsed(): number
}

export const systemTiming: Timing = {
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
  every: (schedule, act) => everySlot(schedule, act, systemTiming),
  elapsed: () => performance.now(),
}
