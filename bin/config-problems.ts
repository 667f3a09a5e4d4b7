/** Turns faults of settings into problems of the command line. */
import { usage } from '../commands/ui/problem.ts'
import { ConfigError } from '../src/errors.ts'

/** A ConfigError as a usage problem, because an invalid setting is bad input wherever it came from; others unchanged. */
export function asUsage(error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error
  const { problem, next } = error
  return usage(problem, next === undefined ? {} : { next })
}
