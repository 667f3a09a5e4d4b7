/** The seven error codes of the API and the error class that every module throws. */

export const ERROR_STATUS = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  internal_error: 500,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

export interface ErrorExtras {
  /** Dotted path of the first offending field, for example `splits.1.bps`. */
  param?: string
  details?: Record<string, unknown>
  /** Seconds after which the same request may succeed; sent as the response's `Retry-After`. */
  retryAfter?: number
  cause?: unknown
  /** Name of the missing setting; it is included in production responses too, as it is not a secret. */
  unset?: string | undefined
}

/** A failure that is reported to the client; any other thrown error is a bug and is answered with `internal_error`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly param?: string
  readonly details?: Record<string, unknown>
  readonly retryAfter?: number
  readonly unset?: string

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'ApiError'
    this.code = code
    if (extras.param !== undefined) this.param = extras.param
    if (extras.details !== undefined) this.details = extras.details
    if (extras.retryAfter !== undefined) this.retryAfter = extras.retryAfter
    if (extras.unset !== undefined) this.unset = extras.unset
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

/**
 * Too many requests at the moment; nothing was started, and the same request may succeed after `retryAfter` seconds.
 */
export class Overloaded extends ApiError {
  constructor(message: string, retryAfter: number) {
    super('internal_error', message, { retryAfter })
  }
}

/** Another request or process was faster. Nothing was done, and the same request may succeed a moment later. */
export class Overtaken extends ApiError {
  constructor(message: string, extras: ErrorExtras = {}) {
    super('bad_request', message, { retryAfter: 1, ...extras })
  }
}

/** The message of an internal error that hides its cause. */
export const GENERIC_MESSAGE = 'Something went wrong'

export const badRequest = (message: string, extras?: ErrorExtras) => new ApiError('bad_request', message, extras)
export const forbidden = (message: string, extras?: ErrorExtras) => new ApiError('forbidden', message, extras)
export const notFound = (message: string, extras?: ErrorExtras) => new ApiError('not_found', message, extras)
/** Only for an Idempotency-Key that is in use; the command line also uses it for a file or a port that is. */
export const conflict = (message: string, extras?: ErrorExtras) => new ApiError('conflict', message, extras)
/** `retryAfter` in seconds. */
export const rateLimited = (message: string, retryAfter: number) =>
  new ApiError('rate_limited', message, { retryAfter })
export const internal = (message: string, extras?: ErrorExtras) => new ApiError('internal_error', message, extras)

/** An invalid or missing setting; the command line reports it as bad input. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** The problem without the remedy, which is in `next`; the message contains both. */
  readonly problem: string
  readonly next: string | undefined
  /** Name of the missing setting, when a missing setting is the cause. */
  readonly unset: string | undefined

  constructor(problem: string, next?: string, unset?: string) {
    super(next === undefined ? problem : `${problem}; ${next}`)
    this.problem = problem
    this.next = next
    this.unset = unset
  }
}
