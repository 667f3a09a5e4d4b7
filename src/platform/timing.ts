/** Time units, waiting, calls with a deadline, and values that are created once. */

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
export const DAY_SECONDS = DAY_MS / SECOND_MS

/** Days of a week, as settings and answers name them. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** Resolves after the given milliseconds; it keeps the process alive until then. */
export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds))

/** A call took longer than its timeout. */
export class TimeoutError extends Error {
  // `AbortSignal.timeout` uses the same name.
  override readonly name = 'TimeoutError'
}

/** A call was aborted because the process shuts down. */
export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown'
}

/**
 * Settles as `call` does. Throws TimeoutError after the given milliseconds and ShuttingDown once `ending` is aborted,
 * even when `call` ignores its signal.
 *
 * @example
 * await withTimeout(5_000, context.ending, (signal) => fetch(url, { signal }))
 */
export async function withTimeout<T>(
  milliseconds: number,
  ending: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  const stop = () => controller.abort(new ShuttingDown('the service is shutting down'))
  const timer = setTimeout(() => controller.abort(new TimeoutError('no answer in time')), milliseconds)
  ending?.addEventListener('abort', stop)
  if (ending?.aborted) stop()
  try {
    return await Promise.race([signal.aborted ? aborted : call(signal), aborted])
  } finally {
    clearTimeout(timer)
    ending?.removeEventListener('abort', stop)
  }
}

/** Describes why a call to another service got no response; the text contains no URL. */
export function whyUnanswered(error: unknown): string {
  const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return 'no answer in time'
  if (name === 'ShuttingDown') return 'the service is shutting down'
  return cause?.code ?? 'the connection broke'
}

/** Milliseconds that a `Retry-After` header requests, in seconds or as a date (RFC 9110, 10.2.3); null without one. */
export function retryAfterMs(headers: Headers, now = Date.now()): number | null {
  const text = headers.get('retry-after')?.trim()
  if (text === undefined || text === '') return null
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const date = /^[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Settles as `work` does, or rejects with the error that `late` creates after the given milliseconds. */
export async function rejectLate<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Creates a value on the first call and shares it with all later calls; after a failure the next call tries again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }
}

let lastIso = { at: Number.NaN, text: '' }

/** ISO 8601 of Unix milliseconds; the last text is reused, because many calls fall into the same millisecond. */
export function isoTime(at: number): string {
  if (at !== lastIso.at) lastIso = { at, text: new Date(at).toISOString() }
  return lastIso.text
}

/**
 * Returns a function that long work calls between its small steps. Once the steps since the last turn have taken
 * `budgetMs`, it returns a promise of the next turn of the event loop, so that other work can run.
 *
 * @example
 * const nextTurn = turnsOf(5)
 * for (const row of rows) {
 *   add(row)
 *   await nextTurn()
 * }
 */
export function turnsOf(
  budgetMs: number,
  elapsed: () => number = () => performance.now(),
): () => Promise<void> | undefined {
  let until = elapsed() + budgetMs
  return () => {
    if (elapsed() < until) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        until = elapsed() + budgetMs
        resolve()
      })
    })
  }
}
