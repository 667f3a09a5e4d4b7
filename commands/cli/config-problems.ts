/** Turns faults of settings into problems of the command line. */
import { ConfigError } from '../../src/platform/errors.ts'
import { usage } from '../ui/problem.ts'

/**
 * A ConfigError as a usage problem, because an invalid setting is bad input from any source; other errors unchanged.
 */
export function asUsage(error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error
  const { problem, next } = error
  return usage(problem, next === undefined ? {} : { next })
}
