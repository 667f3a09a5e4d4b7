/** When workers act: the schedule and the timers, so that a test can hold both in its hand. */

/** A regular moment of Unix time: every so many milliseconds, so long after each multiple of that. */
export interface Schedule {
  everyMs: number
  offsetMs?: number
}

export interface Timing {
  /** Runs `act` once after so many milliseconds; the answer calls it off. */
  after(milliseconds: number, act: () => void): () => void
  /** Runs `act` at every moment (`slot`, Unix milliseconds) of a schedule; the answer ends that. */
  every(schedule: Schedule, act: (slot: number) => void): () => void
  /** Milliseconds of a clock that nobody sets. */
  elapsed(): number
}

export const systemTiming: Timing = {
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
  every: (schedule, act) => everySlot(schedule, act, { now: Date.now, after: systemTiming.after }),
  elapsed: () => performance.now(),
}

interface WallClock {
  now(): number
  after: Timing['after']
}

/**
 * The moments of a schedule by a clock that may be set at any time. Each wait is at most one period, so that a clock that
 * was set back is noticed within one; a moment that a busy process missed is made up for by the next.
 */
export function everySlot(
  { everyMs, offsetMs = 0 }: Schedule,
  act: (slot: number) => void,
  { now, after }: WallClock,
): () => void {
  const slotAt = (at: number) => Math.floor((at - offsetMs) / everyMs) * everyMs + offsetMs
  let cancel = () => {}
  const plan = (last: number) => {
    const wait = slotAt(now()) + everyMs - now()
    cancel = after(Math.max(1, Math.min(wait, everyMs)), () => {
      const slot = slotAt(now())
      // A timer may fire a moment early; a slot that is behind the last one tells of a clock that was set back.
      if (slot !== last) act(slot)
      plan(slot)
    })
  }
  plan(slotAt(now()))
  return () => cancel()
}
