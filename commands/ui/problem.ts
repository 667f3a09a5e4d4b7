/** Failures as a person meets them: what is wrong, where, the way out, and an exit code. */
import { ApiError, type ErrorCode, type ErrorExtras } from '../../src/errors.ts'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  conflict: 5,
  rateLimited: 6,
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
  /** What to do about it. */
  next?: string
  /** Shown in place of the message, one fault a line. */
  lines?: readonly string[]
}

/** A failure that this command line found itself; same codes as the API's. */
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

/** Wrong flags, arguments or input files: exit 2. */
export const usage = (message: string, extras?: ProblemExtras) => new Problem('bad_request', message, extras)
/** Something here or on the way failed: exit 1. */
export const failure = (message: string, extras?: ProblemExtras) => new Problem('internal_error', message, extras)

/** The person said no, or pressed Ctrl-C: exit 130. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Resolves with null where the API answers not_found. */
export async function nullIfNotFound<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  }
}

/** Whether the same question may be answered a moment later: a fault on the way, or a rate limit that is used up. */
export const isTransient = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 'internal_error' || error.code === 'rate_limited')
