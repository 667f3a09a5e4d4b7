/** Asks a busy node again: every JSON-RPC request can be repeated, a signed transaction runs once however often it is sent. */

const ATTEMPTS = 4
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 4_000
const BUSY = new Set([429, 502, 503, 504])

const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds))

/** Wraps the `fetch` of a Connection: 429 and the gateway's 5xx are tried four times in all, `Retry-After` is obeyed up to four seconds. */
export function patiently(send: typeof fetch, wait: (milliseconds: number) => Promise<void> = pause): typeof fetch {
  return async (input, init) => {
    for (let attempt = 1; ; attempt++) {
      const response = await send(input, init)
      if (!BUSY.has(response.status) || attempt >= ATTEMPTS) return response
      await response.body?.cancel()
      const asked = Number(response.headers.get('retry-after') ?? Number.NaN) * 1000
      await wait(Math.min(Number.isFinite(asked) ? asked : FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS))
    }
  }
}
