/** A clock for a process that leaps ahead at intervals, so that hours go by in minutes; timers are not touched. */

/** Runs in the process before its program; `Date` is all that it changes. */
function install(everyMs: number, leapMs: number): void {
  const real = Date
  const began = real.now()
  const now = () => real.now() + Math.floor((real.now() - began) / everyMs) * leapMs
  globalThis.Date = new Proxy(real, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}

/** Value of NODE_OPTIONS that gives a process such a clock. */
export function leapingClock({ everyMs, leapMs }: { everyMs: number; leapMs: number }): string {
  return `--import=data:text/javascript,${encodeURIComponent(`(${install})(${everyMs}, ${leapMs})`)}`
}
