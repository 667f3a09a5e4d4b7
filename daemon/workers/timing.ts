/** What workers need of timers and schedules; a test can replace it. */

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
