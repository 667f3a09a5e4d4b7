/** Watches connection pools of PostgreSQL: their connections, and how long work waits for one. */
import { channel } from 'node:diagnostics_channel'
import type pg from 'pg'

/** State of one pool of connections at one moment. */
export interface PoolFigures {
  name: string
  /** Open connections. */
  open: number
  idle: number
  /** Calls that wait for a connection. */
  waiting: number
}

/** One call that was given a connection, or none in time. */
export interface PoolWait {
  pool: string
  seconds: number
  failed: boolean
}

const waits = channel('svc.pool-wait')

/** Publishes the wait of every connection that is taken from the pool, and returns how to read its state. */
export function watchPool(pool: pg.Pool, name: string): () => PoolFigures {
  const connect: (...args: unknown[]) => unknown = pool.connect.bind(pool)
  const watched = (...args: unknown[]) => {
    const started = performance.now()
    const publish = (failed: boolean) =>
      waits.publish({ pool: name, seconds: (performance.now() - started) / 1000, failed } satisfies PoolWait)
    const taken = connect(...args)
    if (waits.hasSubscribers && taken instanceof Promise) {
      taken.then(
        () => publish(false),
        () => publish(true),
      )
    }
    return taken
  }
  Object.assign(pool, { connect: watched })
  return () => ({ name, open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount })
}

/** Receives every wait until the returned function is called. */
export function onPoolWaits(act: (wait: PoolWait) => void): () => void {
  const listener = (message: unknown) => act(message as PoolWait)
  waits.subscribe(listener)
  return () => waits.unsubscribe(listener)
}
