/** The path of every request: id, length, bearer, rate and the route's scope; `read` and `write` are its two ends. */

import type { AnyRoute, Input, Result } from '../../src/api/route.ts'
import type { Context } from '../../src/context.ts'
import { ApiError } from '../../src/platform/errors.ts'
import type { Kernel } from '../kernel.ts'
import { type Answer, errorResponse, jsonAnswer } from './answer.ts'
import { authenticate, type KnownKey, requireScopes } from './bearer.ts'
import { type BodySource, bodySourceOf } from './body.ts'
import { addRateLimits, quotasOf } from './rate-limit.ts'
import { read, type Sealed } from './read.ts'
import type { RequestRecord } from './request-record.ts'
import { incomingBody, write } from './write.ts'

export type Operation<R extends AnyRoute> = (context: Context, input: Input<R>) => Result<R> | Promise<Result<R>>

/** Replaces body validation for a `raw` route: reads the bytes before the Idempotency-Key is claimed. */
export type Prepare<I> = (kernel: Kernel, raw: Uint8Array<ArrayBuffer>) => Promise<I>

export interface Handler {
  route: AnyRoute
  // biome-ignore lint/suspicious/noExplicitAny: the pair of route and operation is checked where it is mounted
  operation: Operation<any>
  prepare?: Prepare<unknown>
  /** The operation reads nothing but stored records, so that its answer holds until the database changes. */
  stored?: true
}

/** What the pipeline reads of a request besides its body, whoever received it. */
export interface AskedRequest {
  /** Value of a header by its name in lower case; null without it. */
  header(name: string): string | null
  /** Path and query. */
  target: string
  /** Scheme, host and port that the client used. */
  origin: string
  params: Record<string, string>
  /** What the body of a write is read from; undefined for a GET request. */
  write: BodySource | undefined
}

/** What a Request asks of a mounted route. */
export function askedBy({ method }: AnyRoute, request: Request, params: Record<string, string>): AskedRequest {
  const url = new URL(request.url)
  return {
    header: (name) => request.headers.get(name),
    target: url.pathname + url.search,
    origin: url.origin,
    params,
    write: method === 'get' ? undefined : bodySourceOf(request),
  }
}

/** Answers one request to a mounted route; never throws. */
export async function answerRequest(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  record: RequestRecord,
): Promise<Answer> {
  const { requestId, fault } = record
  const headers: Record<string, string> = {}
  record.route = handler.route.path
  try {
    if (fault !== undefined) throw fault
    headers['X-Request-Id'] = requestId
    const { status, body } = await run(kernel, handler, asked, record, headers)
    return noted(record, jsonAnswer(kernel, status, body, headers))
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.unset !== undefined) record.reason = 'not_configured'
    const quotas = thrown instanceof ApiError ? quotasOf(thrown) : undefined
    if (quotas) addRateLimits(headers, quotas, true)
    if (thrown instanceof ApiError && thrown.retryAfter !== undefined)
      headers['Retry-After'] = String(thrown.retryAfter)
    const { status, body } = errorResponse(kernel, thrown, requestId, asked.origin)
    return noted(record, jsonAnswer(kernel, status, body, { ...headers, 'X-Request-Id': requestId }))
  }
}

/** Notes the bytes of an answer in the record too, because a middleware may put another answer in its place. */
function noted(record: RequestRecord, answer: Answer): Answer {
  record.bytes = answer.bytes
  return answer
}

/** Checks the key, its rate and its scope before the body is read, so that a caller without a key uses no memory. */
async function run(
  kernel: Kernel,
  handler: Handler,
  asked: AskedRequest,
  record: RequestRecord,
  headers: Record<string, string>,
): Promise<Sealed> {
  const { route } = handler
  const { requestId } = record
  const incoming = asked.write && incomingBody(kernel, route, asked, asked.write)
  const key = route.public ? undefined : await admit(kernel, asked, record, headers)
  if (key && route.scope) requireScopes(JSON.parse(key.scopes_json), [route.scope])
  if (incoming === undefined) return read(kernel, handler, asked, requestId, key)
  return write(kernel, handler, asked, { incoming, requestId, headers, key })
}

/** Finds the key and counts the request against its limits. */
async function admit(
  kernel: Kernel,
  asked: AskedRequest,
  record: RequestRecord,
  headers: Record<string, string>,
): Promise<KnownKey> {
  const key = await authenticate(kernel, asked.header('authorization'), record)
  addRateLimits(headers, await kernel.limiter.admit(key), false)
  return key
}
