/** Runs a few requests at a time. Others wait in a queue of bounded length for a bounded time. */
import { ShuttingDown } from '../platform/timing.ts'

export interface RequestQueueLimits {
  running: number
  waiting: number
  /** Longest wait of a request in milliseconds. */
  waitMs: number
}

export interface RequestQueue {
  /**
   * Runs the call as soon as there is room. Throws the error of `full` if the queue is full or the wait is too long,
   * and ShuttingDown once `ending` is aborted.
   */
  run<T>(call: () => Promise<T>, full: () => Error): Promise<T>
  /** Like `run`, but comes before all others and is never refused because of a full queue. */
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

  /** A request that ends passes its place to the next waiting one, so that a later request cannot take it. */
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
