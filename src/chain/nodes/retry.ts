/** Repeats requests to a busy node. Every JSON-RPC request can be repeated, because a signed transaction runs only once. */
import { internal } from '../../platform/errors.ts'
import { pause, retryAfterMs, SECOND_MS, withTimeout } from '../../platform/timing.ts'

/** Tries of a call, and the pause after the first, which doubles. */
export const MOST_TRIES = 4
export const FIRST_WAIT_MS = 250
/** Time for a call with its waits and tries, which keeps the whole answer within ten seconds. */
export const CALL_MS = 8_000
/** Longest pause that a node can request. A longer one may be an error or an attack. */
export const LONGEST_ASKED_PAUSE_MS = 300_000
const BUSY_STATUSES = new Set([429, 502, 503, 504])

/** How calls to nodes measure and spend time. */
export interface NodeTiming {
  /** Milliseconds of a monotonic clock. */
  elapsed(): number
  /** Waits before a request is repeated. */
  wait(milliseconds: number): Promise<void>
  /** Runs `act` after the given milliseconds, unless the returned function is called first. */
  after(milliseconds: number, act: () => void): () => void
  /** Aborted when the process ends, which ends every call. */
  ending: AbortSignal | undefined
}

/** The time of the machine, except for what is given. */
export function nodeTiming(given: Partial<NodeTiming>): NodeTiming {
  const { elapsed = () => performance.now(), wait = pause, after = afterTimeout, ending } = given
  return { elapsed, wait, after, ending }
}

function afterTimeout(milliseconds: number, act: () => void): () => void {
  const timer = setTimeout(act, milliseconds)
  return () => clearTimeout(timer)
}

export type Retry = <T extends { status: number; headers: Headers }>(
  send: (signal: AbortSignal) => Promise<T>,
) => Promise<T>

/**
 * Returns what runs the requests to one server; errors have its name. 429 and gateway errors (5xx) are tried four times
 * in all. A `Retry-After` applies to every call. Each waits until then, or fails at once with internal_error, which
 * passes it on, if that exceeds its own time.
 */
export function createRetry(name: string, { elapsed, wait, ending }: NodeTiming): Retry {
  let pausedUntil = 0

  return (send) =>
    withTimeout(CALL_MS, ending, async (signal) => {
      const startedAt = elapsed()
      for (let count = 1; ; count++) {
        for (let left = pausedUntil - elapsed(); left > 0; left = pausedUntil - elapsed()) {
          if (pausedUntil - startedAt > CALL_MS) throw nodePaused(name, left)
          await wait(left)
        }
        const response = await send(signal)
        if (!BUSY_STATUSES.has(response.status)) return response
        const asked = retryAfterMs(response.headers)
        if (asked !== null) {
          pausedUntil = Math.max(pausedUntil, elapsed() + Math.min(asked, LONGEST_ASKED_PAUSE_MS))
        }
        const left = pausedUntil - elapsed()
        if (count >= MOST_TRIES && left > 0) throw nodePaused(name, left)
        if (count >= MOST_TRIES) return response
        if (asked === null) await wait(FIRST_WAIT_MS * 2 ** (count - 1))
      }
    })
}

function nodePaused(name: string, milliseconds: number): Error {
  const retryAfter = Math.ceil(milliseconds / SECOND_MS)
  return internal(`${name} asks to be left alone for another ${retryAfter} s (Retry-After): try again then`, {
    retryAfter,
  })
}
