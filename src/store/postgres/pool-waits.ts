/** Reports how long calls waited for a connection to PostgreSQL. */
import { channel } from 'node:diagnostics_channel'
import type { PoolUser } from './gate.ts'

/** One call that got a connection, or timed out. */
export interface PoolWait {
  user: PoolUser
  seconds: number
  failed: boolean
}

const waits = channel('svc.pool-wait')

/** Reports a wait that began at `started`, in milliseconds of `performance.now()`. */
export function publishPoolWait(user: PoolUser, started: number, failed: boolean): void {
  if (!waits.hasSubscribers) return
  waits.publish({ user, seconds: (performance.now() - started) / 1000, failed } satisfies PoolWait)
}

/** Receives every wait until the returned function is called. */
export function onPoolWaits(act: (wait: PoolWait) => void): () => void {
  const listener = (message: unknown) => act(message as PoolWait)
  waits.subscribe(listener)
  return () => waits.unsubscribe(listener)
}
