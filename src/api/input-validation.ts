/** Validates input against the contract's schemas. The first fault names its field by dotted path. */
import type { ZodError, ZodType, z } from 'zod'
import { badRequest } from '../platform/errors.ts'
import { MOST_LISTED, nearestNames } from '../platform/nearest.ts'

type Issue = ZodError['issues'][number]
const MAX_INPUT_ISSUES = 20
/** A client's own field name may have any length, so the answer limits it. */
const LONGEST_PATH = 256

/**
 * Returns the parsed value. Throws bad_request with `param` and `details.issues`.
 *
 * @example
 * validateInput(z.strictObject({ limit: z.int() }), { limit: 'all' }) // bad_request, param 'limit'
 */
export function validateInput<S extends ZodType>(schema: S, value: Record<string, unknown>): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalid(result.error.issues, value)
}

function invalid(issues: readonly Issue[], value: unknown) {
  const listed = issues
    .flatMap(ofValueOrNull)
    .slice(0, MAX_INPUT_ISSUES)
    .map((issue) => ({ param: issuePathOf(issue), message: issueMessageOf(issue, value) }))
  const [{ param, message } = { param: '', message: 'the request is not valid' }] = listed
  return badRequest(param === '' ? message : `${param}: ${message}`, {
    ...(param === '' ? {} : { param }),
    details: { issues: listed },
  })
}

/** The issues of the value itself, if the schema is a value or null (`nullOr`). */
function ofValueOrNull(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const isOfNull = ([first]: readonly Issue[]) => first?.code === 'invalid_type' && first.expected === 'null'
  const [own, ...others] = issue.errors.filter((each) => !isOfNull(each as Issue[]))
  if (own === undefined || others.length > 0 || issue.errors.length !== 2) return [issue]
  return (own as Issue[]).map((each) => ({ ...each, path: [...issue.path, ...each.path] }))
}

function issuePathOf(issue: Issue): string {
  const path = issue.path.map(String)
  const dotted = (issue.code === 'unrecognized_keys' ? [...path, ...issue.keys.slice(0, 1)] : path).join('.')
  return dotted.length > LONGEST_PATH ? `${dotted.slice(0, LONGEST_PATH)}…` : dotted
}

function issueMessageOf(issue: Issue, value: unknown): string {
  if (issue.code === 'unrecognized_keys') return 'is not a field of this request'
  const given = valueAt(value, issue.path)
  if (issue.code !== 'custom' && issue.path.length > 0 && given === undefined) return 'is required'
  return issue.code === 'invalid_value' && issue.values.length > MOST_LISTED
    ? choiceFault(issue.values.map(String), given)
    : issue.message
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value)

/** What is wrong with a value that is not one of many; names the nearest instead of all. */
function choiceFault(values: readonly string[], given: unknown): string {
  const near = typeof given === 'string' ? nearestNames(given, values) : []
  const meant = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`
  const all = values.includes('pool.created') ? ' (GET /v2/webhook-event-types, `svc events types`)' : ''
  return `is not one of its ${values.length} values${all}${meant}`
}
