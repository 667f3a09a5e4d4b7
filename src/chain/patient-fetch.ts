/** Asks a busy node again: every JSON-RPC request can be repeated, a signed transaction runs once however often it is sent. */

import { internal } from '../errors.ts'
import { pause, retryAfterMs, withTimeout } from '../timing.ts'

const MAX_FETCH_ATTEMPTS = 4
const FIRST_WAIT_MS = 250
const BUSY_STATUSES = new Set([429, 502, 503, 504])
/** However long a node asks to be left alone: it may be wrong, or no friend. */
const LONGEST_QUIET_MS = 300_000
/** A call with its waits and repetitions, so that whoever waits for it has an answer within ten seconds. */
export const CALL_MS = 8_000

export interface RetryOptions {
  /** Whom it is asked of, as an error may name it. */
  name?: string
  /** Waits before a busy node is asked again, in milliseconds. */
  wait?: ((milliseconds: number) => Promise<void>) | undefined
  /** Milliseconds of a clock that nobody sets. */
  elapsed?: () => number
  /** For a call with everything that it waits for, in milliseconds. */
  limitMs?: number
  /** Aborted when the process ends. */
  ending?: AbortSignal | undefined
}

/**
 * Wraps the `fetch` of a node: 429 and the gateway's 5xx are tried four times in all. A `Retry-After` holds for every call
 * to the node: each waits until then, or fails at once with internal_error where its own time would be over.
 */
export function withRetries(send: typeof fetch, options: RetryOptions = {}): typeof fetch {
  const { name = 'The node', wait = pause, elapsed = () => performance.now(), limitMs = CALL_MS, ending } = options
  let quietUntil = 0

  /** Waits until the node may be asked again; answers how long that was. */
  async function quiet(waited: number): Promise<number> {
    let passed = 0
    for (let left = quietUntil - elapsed(); left > 0; left = quietUntil - elapsed()) {
      if (waited + passed + left > limitMs) throw leftAlone(name, left)
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
        waited = Math.max(elapsed() - startedAt, waited + (await quiet(waited)))
        const response = await send(input, { ...init, signal })
        if (!BUSY_STATUSES.has(response.status)) return response
        const asked = retryAfterMs(response.headers)
        if (asked !== null) quietUntil = Math.max(quietUntil, elapsed() + Math.min(asked, LONGEST_QUIET_MS))
        if (attempt >= MAX_FETCH_ATTEMPTS) return response
        await response.body?.cancel()
        if (asked === null) await wait(FIRST_WAIT_MS * 2 ** (attempt - 1))
      }
    })
}

const leftAlone = (name: string, milliseconds: number) =>
  internal(
    `${name} asks to be left alone for another ${Math.ceil(milliseconds / 1000)} s (Retry-After): try again then`,
  )
