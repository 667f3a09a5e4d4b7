/** Divides the connections of one pool between its users, so that none of them can take the last ones of another. */

export const POOL_USERS = ['reads', 'writes', 'workers', 'readiness'] as const
/** Who uses a connection: reads and writes of requests, the workers, or the readiness check. */
export type PoolUser = (typeof POOL_USERS)[number]

/** Connections in use, requests that wait for one, and how many of them were refused since the start. */
export interface PoolUsage {
  size: number
  used: Record<PoolUser, number>
  waiting: Record<PoolUser, number>
  refused: number
}

export interface PoolGate {
  /**
   * Takes a place and resolves with the function that gives it back. Rejects with `late()` after `waitMs`; users of the
   * same kind are served in order.
   */
  take(user: PoolUser, waitMs: number, late: () => Error): Promise<() => void>
  usage(): PoolUsage
}

interface Waiter {
  user: PoolUser
  grant(): void
}

/** The connections that are kept for each user; what is left goes to whoever comes first. */
function keptPlaces(size: number): Record<PoolUser, number> {
  // Reads never wait for locks, so a quarter is theirs while writes wait.
  return { reads: Math.max(1, Math.floor(size / 4)), writes: 1, workers: 1, readiness: 1 }
}

/** Creates a gate of at least four places. */
export function createPoolGate(size: number): PoolGate {
  const kept = keptPlaces(size)
  const used: Record<PoolUser, number> = { reads: 0, writes: 0, workers: 0, readiness: 0 }
  const waiters: Waiter[] = []
  let refused = 0

  function isFree(user: PoolUser): boolean {
    // What others keep and do not use stays free for them.
    const held = POOL_USERS.map((each) => (each === user ? used[each] : Math.max(used[each], kept[each])))
    return held.reduce((sum, count) => sum + count, 0) < size
  }

  function enter(user: PoolUser): () => void {
    used[user]++
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      used[user]--
      admitNext()
    }
  }

  function admitNext(): void {
    // One place was given back, so at most one waiter can enter.
    const at = waiters.findIndex(({ user }) => isFree(user))
    if (at >= 0) waiters.splice(at, 1)[0]?.grant()
  }

  return {
    take(user, waitMs, late) {
      if (isFree(user) && !waiters.some((waiter) => waiter.user === user)) return Promise.resolve(enter(user))
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          user,
          grant() {
            clearTimeout(timer)
            resolve(enter(user))
          },
        }
        const timer = setTimeout(() => {
          waiters.splice(waiters.indexOf(waiter), 1)
          refused++
          reject(late())
        }, waitMs)
        waiters.push(waiter)
      })
    },
    usage() {
      const waiting = { reads: 0, writes: 0, workers: 0, readiness: 0 }
      for (const { user } of waiters) waiting[user]++
      return { size, used: { ...used }, waiting, refused }
    },
  }
}
