/** When workers act: the schedule and the timers, so that a test can hold both in its hand. */
import { schedule } from 'node-cron'

export interface Timing {
  /** Runs `act` once after so many milliseconds; the answer calls it off. */
  after(milliseconds: number, act: () => void): () => void
  /** Runs `act` at every moment (`slot`, Unix milliseconds) of a cron expression in UTC; the answer ends that. */
  every(expression: string, act: (slot: number) => void): () => void
}

export const systemTiming: Timing = {
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
  every(expression, act) {
    // A moment missed by a busy process is made up for by the next: nothing to warn of.
    const options = { timezone: 'Etc/UTC', suppressMissedWarning: true }
    const task = schedule(expression, ({ date }) => act(Math.floor(date.getTime() / 1000) * 1000), options)
    return () => void task.destroy()
  },
}
