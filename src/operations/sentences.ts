/** What is said under a condition: the refusals of a request, and the warnings of an answer. */
import { type ApiError, badRequest } from '../platform/errors.ts'

/** False if it is not said. */
export type Said = string | false

/** A bad_request of the field that the text begins with, before a colon. */
export const fieldFault = (text: string, details?: Record<string, unknown>): ApiError =>
  badRequest(text, { param: text.slice(0, text.indexOf(':')), ...(details === undefined ? {} : { details }) })

/** Throws the first of the refusals that is said, as `fieldFault` reads it. */
export function refuseFirst(...refusals: readonly Said[]): void {
  const text = refusals.find((refusal) => refusal !== false)
  if (text !== undefined) throw fieldFault(text)
}

export const saidOf = (texts: readonly Said[]): string[] => texts.filter((text) => text !== false)

/** The field of an answer, which is left out if nothing is said. */
export function warned(texts: readonly Said[]): { warnings?: string[] } {
  const warnings = saidOf(texts)
  return warnings.length === 0 ? {} : { warnings }
}
