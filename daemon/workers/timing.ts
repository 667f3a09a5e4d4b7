/** The schedule and the timers of the workers, as a test can replace them. */
import { everySlot } from './cron.ts'

/** A regular moment of Unix time: every so many milliseconds, so long after each multiple of that. */
export interface WorkerSchedule {
  everyMs: number
  offsetMs?: number
}

export interface Timing {
  /** Runs `act` once after so many milliseconds; the answer calls it off. */
  after(milliseconds: number, act: () => void): () => void
  /** Runs `act` at every moment (`slot`, Unix milliseconds) of a schedule; the answer ends that. */
  every(schedule: WorkerSchedule, act: (slot: number) => void): () => void
  /** Milliseconds of a clock that nobody sets. */
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
