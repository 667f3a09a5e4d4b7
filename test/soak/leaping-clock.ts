/** A clock for a process that leaps ahead at intervals, so that hours go by in minutes; timers are not touched. */

/** Runs in the process before its program; `Date` is all that it changes. */
function install(everyMs: number, leapMs: number, offsetMs: number): void {
  const real = Date
  const began = real.now()
  const now = () => real.now() + offsetMs + Math.floor((real.now() - began) / everyMs) * leapMs
  globalThis.Date = new Proxy(real, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}

interface LeapingClock {
  everyMs: number
  leapMs: number
  /** By how much it is ahead at the start; negative where it is behind. */
  offsetMs?: number
}

/** Value of NODE_OPTIONS that gives a process such a clock. */
export function leapingClock({ everyMs, leapMs, offsetMs = 0 }: LeapingClock): string {
  return `--import=data:text/javascript,${encodeURIComponent(`(${install})(${everyMs}, ${leapMs}, ${offsetMs})`)}`
}
