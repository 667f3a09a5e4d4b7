/** Repeats requests to a busy node. Every JSON-RPC request can be repeated, because a signed transaction runs only once. */

import { internal } from '../../platform/errors.ts'
import { pause, retryAfterMs, SECOND_MS, withTimeout } from '../../platform/timing.ts'

const MAX_FETCH_ATTEMPTS = 4
const FIRST_WAIT_MS = 250
const BUSY_STATUSES = new Set([429, 502, 503, 504])
/** Longest pause that a node can request. A longer one may be an error or an attack. */
const LONGEST_NODE_PAUSE_MS = 300_000
/** Time for a call with its waits and retries, which keeps the whole answer within ten seconds. */
const CALL_MS = 8_000

export interface RetryOptions {
  /** Name of the endpoint in errors. */
  name?: string
  /** Waits before a request to a busy node is repeated, in milliseconds. */
  wait?: ((milliseconds: number) => Promise<void>) | undefined
  /** Milliseconds of a monotonic clock. */
  elapsed?: () => number
  /** Time for a call with all of its waits, in milliseconds. */
  limitMs?: number
  /** Aborted when the process ends. */
  ending?: AbortSignal | undefined
}

/**
 * Wraps the `fetch` of a node: 429 and gateway errors (5xx) are tried four times in all. A `Retry-After` applies to
 * every call to the node: each waits until then, or fails at once with internal_error, which passes it on, if that
 * exceeds its own time.
 */
export function withRetries(send: typeof fetch, options: RetryOptions = {}): typeof fetch {
  const { name = 'The node', wait = pause, elapsed = () => performance.now(), limitMs = CALL_MS, ending } = options
  let pausedUntil = 0

  /** Waits until the node may be called again, and returns how long that took. */
  async function waitForPause(waited: number): Promise<number> {
    let passed = 0
    for (let left = pausedUntil - elapsed(); left > 0; left = pausedUntil - elapsed()) {
      if (waited + passed + left > limitMs) throw nodePaused(name, left)
      await wait(left)
      passed += left
    }
    return passed
  }

  return (input, init) =>
    withTimeout(limitMs, ending, async (signal) => {
      const startedAt = elapsed()
      let waited = 0
      for (let attempt = 1; ; attempt++) {
        waited = Math.max(elapsed() - startedAt, waited + (await waitForPause(waited)))
        const response = await send(input, { ...init, signal })
        if (!BUSY_STATUSES.has(response.status)) return response
        const retryAfter = retryAfterMs(response.headers)
        if (retryAfter !== null)
          pausedUntil = Math.max(pausedUntil, elapsed() + Math.min(retryAfter, LONGEST_NODE_PAUSE_MS))
        const asked = pausedUntil - elapsed()
        if (attempt >= MAX_FETCH_ATTEMPTS && asked <= 0) return response
        await response.body?.cancel()
        if (attempt >= MAX_FETCH_ATTEMPTS) throw nodePaused(name, asked)
        if (retryAfter === null) await wait(FIRST_WAIT_MS * 2 ** (attempt - 1))
      }
    })
}

function nodePaused(name: string, milliseconds: number): Error {
  const retryAfter = Math.ceil(milliseconds / SECOND_MS)
  return internal(`${name} asks to be left alone for another ${retryAfter} s (Retry-After): try again then`, {
    retryAfter,
  })
}
