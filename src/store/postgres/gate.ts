/** Divides the connections of one pool between its users, so none of them can take another's last ones. */

export const POOL_USERS = ['reads', 'writes', 'workers', 'readiness'] as const
/** Who uses a connection: reads and writes of requests, the workers, or the readiness check. */
export type PoolUser = (typeof POOL_USERS)[number]

/** Connections in use, requests waiting for one, and how many were refused since the start. */
export interface PoolUsage {
  size: number
  used: Record<PoolUser, number>
  waiting: Record<PoolUser, number>
  refused: number
}

interface PoolGate {
  /**
   * Takes a place and resolves with the function that gives it back. Rejects with `late()` after `waitMs`. Users of the
   * same kind are served in order.
   */
  take(user: PoolUser, waitMs: number, late: () => Error): Promise<() => void>
  usage(): PoolUsage
}

interface Waiter {
  user: PoolUser
  grant(): void
}

/** Connections reserved for each user; the others go to the first that asks. */
function keptPlaces(size: number): Record<PoolUser, number> {
  // Reads never wait for locks, so a quarter is reserved for them while writes wait.
  return { reads: Math.max(1, Math.floor(size / 4)), writes: 1, workers: 1, readiness: 1 }
}

/** Creates a gate of at least four places. */
export function createPoolGate(size: number): PoolGate {
  const kept = keptPlaces(size)
  const used: Record<PoolUser, number> = { reads: 0, writes: 0, workers: 0, readiness: 0 }
  const waiters: Waiter[] = []
  let refused = 0

  function isFree(user: PoolUser): boolean {
    // Unused places reserved for others stay free for them.
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
    // Only one place was given back, so at most one waiter can enter.
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
