/** Lets a few requests run at a time: further ones wait in a queue of bounded length, and for a bounded time. */
import { ShuttingDown } from '../platform/timing.ts'

export interface RequestQueueLimits {
  running: number
  waiting: number
  /** Milliseconds for which a request waits at most. */
  waitMs: number
}

export interface RequestQueue {
  /**
   * Runs the call as soon as there is room. Throws what `full` creates at once where the queue is full, and later where
   * the wait was too long; throws ShuttingDown once `ending` is aborted.
   */
  run<T>(call: () => Promise<T>, full: () => Error): Promise<T>
  /** Like `run`, but waits before all others and is never refused for the length of the queue. */
  runSoon<T>(call: () => Promise<T>, full: () => Error): Promise<T>
}

interface WaitingRequest {
  start(): void
}

export function requestQueue(
  { running: most, waiting, waitMs }: RequestQueueLimits,
  ending?: AbortSignal,
): RequestQueue {
  const [soon, later]: [Set<WaitingRequest>, Set<WaitingRequest>] = [new Set(), new Set()]
  let running = 0

  const turn = (queue: Set<WaitingRequest>, full: () => Error) =>
    new Promise<void>((settle, reject) => {
      const leave = () => {
        clearTimeout(timer)
        ending?.removeEventListener('abort', end)
        queue.delete(request)
      }
      const request: WaitingRequest = {
        start() {
          leave()
          settle()
        },
      }
      const refuse = (error: unknown) => {
        leave()
        reject(error)
      }
      const end = () => refuse(new ShuttingDown('the service is shutting down'))
      const timer = setTimeout(() => refuse(full()), waitMs)
      ending?.addEventListener('abort', end)
      queue.add(request)
      if (ending?.aborted) end()
    })

  /** A request that ends leaves its place to the next one, so that none that comes later takes it. */
  const leavePlace = () => {
    const [next] = soon.size > 0 ? soon : later
    if (next === undefined) running--
    else next.start()
  }

  const runIn = async <T>(queue: Set<WaitingRequest>, call: () => Promise<T>, full: () => Error): Promise<T> => {
    if (running < most) running++
    else await turn(queue, full)
    try {
      return await call()
    } finally {
      leavePlace()
    }
  }

  return {
    run: async (call, full) => {
      if (running >= most && later.size >= waiting) throw full()
      return runIn(later, call, full)
    },
    runSoon: (call, full) => runIn(soon, call, full),
  }
}
