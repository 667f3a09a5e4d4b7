/** The steps of every request: id, length, bearer, rate and the route's scope, then `read` or `write`. */

import type { Context } from 'hono'
import { ApiError } from '../../src/platform/errors.ts'
import type { Kernel } from '../kernel.ts'
import { errorResponse, jsonResponse } from './answer.ts'
import { authenticate, requireScope } from './bearer.ts'
import type { Handler } from './handler.ts'
import { addRateLimits, quotasOf } from './rate-limit.ts'
import { read } from './read.ts'
import type { RequestEnv } from './request-record.ts'
import { incomingBody, write } from './write.ts'

/** Path and query of an absolute URL in the form of the URL standard. */
function targetOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const fragment = url.indexOf('#', start)
  return fragment < 0 ? url.slice(start) : url.slice(start, fragment)
}

/**
 * Answers one request to a mounted route; never throws. Key, rate and scope are checked before the body is read, so a
 * caller without a key uses no memory.
 */
export async function answerRequest(kernel: Kernel, handler: Handler, c: Context<RequestEnv>): Promise<Response> {
  const record = c.env
  const request = c.req.raw
  const { route } = handler
  const { requestId } = record
  const headers: Record<string, string> = {}
  record.route = route.path
  try {
    if (record.fault !== undefined) throw record.fault
    const asked = {
      version: route.public && !handler.stored ? undefined : kernel.look(),
      headers: request.headers,
      target: targetOf(request.url),
      params: c.req.param(),
    }
    const source = route.method === 'get' ? undefined : (record.incoming ?? request)
    const incoming = source && incomingBody(kernel, route, asked, source)
    const key = route.public
      ? undefined
      : (record.caller ?? (await authenticate(kernel, asked.version, asked.headers.get('authorization'), record)))
    if (key) addRateLimits(headers, await kernel.limiter.admit(key), false)
    if (key && route.scope) requireScope(JSON.parse(key.scopes_json), route.scope)
    const { status, body } = await (incoming === undefined
      ? read(kernel, handler, asked, requestId, key)
      : write(kernel, handler, asked, { incoming, requestId, headers, key }))
    return jsonResponse(kernel, record, status, body, headers)
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.unset !== undefined) record.reason = 'not_configured'
    const quotas = thrown instanceof ApiError ? quotasOf(thrown) : undefined
    if (quotas) addRateLimits(headers, quotas, true)
    if (thrown instanceof ApiError && thrown.retryAfter !== undefined)
      headers['Retry-After'] = String(thrown.retryAfter)
    const { status, body } = errorResponse(kernel, thrown, requestId, new URL(request.url).origin)
    return jsonResponse(kernel, record, status, body, headers)
  }
}
