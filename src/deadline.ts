/** Calls out of this process: each ends within its time, and at once when the process does. */

/** The call took longer than it was given. */
export class OutOfTime extends Error {
  // What `AbortSignal.timeout` calls it.
  override readonly name = 'TimeoutError'
}

/** The process ends, and the call with it. */
export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown'
}

/**
 * What `call` comes to. Throws OutOfTime after so many milliseconds and ShuttingDown once `ending` is aborted, whether the
 * call hears its signal or not.
 */
export async function within<T>(
  milliseconds: number,
  ending: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  let end!: (error: Error) => void
  const over = new Promise<never>((_, reject) => {
    end = (error) => {
      reject(error)
      controller.abort(error)
    }
  })
  const stop = () => end(new ShuttingDown('the service is shutting down'))
  const timer = setTimeout(() => end(new OutOfTime('no answer in time')), milliseconds)
  ending?.addEventListener('abort', stop)
  if (ending?.aborted) stop()
  try {
    return await Promise.race([controller.signal.aborted ? over : call(controller.signal), over])
  } finally {
    clearTimeout(timer)
    ending?.removeEventListener('abort', stop)
  }
}

/** Why a call out brought no answer, in words that quote no URL. */
export function whyUnanswered(error: unknown): string {
  const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return 'no answer in time'
  if (name === 'ShuttingDown') return 'the service is shutting down'
  return cause?.code ?? 'the connection broke'
}

/** Milliseconds that a `Retry-After` asks for, in seconds or as a date (RFC 9110, 10.2.3); null where there is none. */
export function retryAfterMs(headers: Headers, now = Date.now()): number | null {
  const text = headers.get('retry-after')?.trim()
  if (text === undefined || text === '') return null
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const date = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
