/** Makes failures of commands: what is wrong, where, what to do about it, and an exit code. */
import { ApiError, type ErrorCode, type ErrorExtras } from '../../src/platform/errors.ts'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  conflict: 5,
  rateLimited: 6,
  /** Nothing was signed: the act waits for approvals. */
  waiting: 7,
  cancelled: 130,
} as const

export const EXIT_BY_CODE: Record<ErrorCode, number> = {
  bad_request: EXIT.usage,
  unauthorized: EXIT.notAllowed,
  forbidden: EXIT.notAllowed,
  not_found: EXIT.notFound,
  conflict: EXIT.conflict,
  rate_limited: EXIT.rateLimited,
  internal_error: EXIT.failed,
}

export interface ProblemExtras extends ErrorExtras {
  /** What the user can do about it. */
  next?: string
  /** Lines shown instead of the message, one fault each. */
  lines?: readonly string[]
}

/** A failure that the command line itself detected, with the same codes as the API's. */
export class Problem extends ApiError {
  readonly next?: string
  readonly lines?: readonly string[]

  constructor(code: ErrorCode, message: string, { next, lines, ...extras }: ProblemExtras = {}) {
    super(code, message, extras)
    this.name = 'Problem'
    if (next !== undefined) this.next = next
    if (lines !== undefined) this.lines = lines
  }
}

/** A problem of flags, arguments or input files (exit 2). */
export const usage = (message: string, extras?: ProblemExtras) => new Problem('bad_request', message, extras)
/** A failure of this machine or of the connection (exit 1). */
export const failure = (message: string, extras?: ProblemExtras) => new Problem('internal_error', message, extras)

/** Thrown when the user declined or pressed Ctrl-C (exit 130). */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Resolves with null if the API answers not_found. */
export async function nullIfNotFound<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  }
}

/** Whether a retry may succeed: after a temporary fault, or once the rate limit allows it. */
export const isTransient = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 'internal_error' || error.code === 'rate_limited')
