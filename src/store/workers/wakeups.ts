/**
 * Wake-ups of workers: code that stores work for a worker wakes it, in this process and, on PostgreSQL, in every other.
 */
import type { OnWake, Store, Wakeups } from '../store.ts'
import { type AfterCommit, nothingAfter, runWork } from '../writing/work.ts'

/** Minimum time between two wake-ups of one worker; those in between are combined into one at its end. */
const WAKE_GAP_MS = 100

/** Limits how often each worker is woken: at once, and again after the gap if more wake-ups arrived. */
export function spacedWakes(onWake: OnWake): OnWake {
  const standing = new Map<string | null, { again: boolean }>()
  return function wake(worker) {
    const last = standing.get(worker)
    if (last !== undefined) {
      last.again = true
      return
    }
    const entry = { again: false }
    standing.set(worker, entry)
    setTimeout(() => {
      standing.delete(worker)
      if (entry.again) wake(worker)
    }, WAKE_GAP_MS).unref()
    onWake(worker)
  }
}

/** Wake-ups within one process. */
export function localWakeups(): Wakeups {
  const listeners = new Set<OnWake>()
  return {
    send(worker) {
      for (const listener of listeners) listener(worker)
    },
    async listen(onWake) {
      const listener = spacedWakes(onWake)
      listeners.add(listener)
      return async () => void listeners.delete(listener)
    },
  }
}

/** Performs what a work requested for after its commit. */
export function actAfter({ acts, workers }: AfterCommit, wakeups: Pick<Wakeups, 'send'>): void {
  for (const act of acts) act()
  for (const worker of workers) wakeups.send(worker)
}

/**
 * Returns a `write` that runs each work as the running one, and then performs what it requested for after its commit.
 */
export function sendingWakeups(wakeups: Pick<Wakeups, 'send'>, write: Store['write']): Store['write'] {
  return async (work, options) => {
    const after = nothingAfter()
    const value = await write((tx) => runWork(tx, work, after), options)
    actAfter(after, wakeups)
    return value
  }
}
