/** Builds answers: success and error envelopes, and the headers of every answer. */
import type { AnswerMeta } from '../../src/client.ts'
import { ApiError, GENERIC_MESSAGE } from '../../src/platform/errors.ts'
import { redactorOf } from '../../src/settings/redaction.ts'
import type { Kernel } from '../kernel.ts'
import type { RequestRecord } from './request-record.ts'

/**
 * Makes a Response and records the bytes of its body. All headers must be given here: reading or changing a Response
 * later makes @hono/node-server build a real one, which takes twice the time of a quick answer.
 */
export function respond(
  record: RequestRecord,
  status: number,
  headers: Record<string, string>,
  body: string | Uint8Array<ArrayBuffer> | null,
): Response {
  record.bytes = body === null ? null : Buffer.byteLength(body)
  return new Response(body, { status, headers })
}

/**
 * Any answer may contain or reveal a secret key, so caches must not store it. Configured credentials are redacted from
 * every body.
 */
export function jsonResponse(
  { config }: Pick<Kernel, 'config'>,
  record: RequestRecord,
  status: number,
  body: string,
  more: Record<string, string> = {},
): Response {
  // One object is written as a whole, because V8 merges several objects slowly.
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'X-Request-Id': record.requestId,
  }
  // RFC 9110, 15.5.2: a 401 must state how to authenticate.
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="svc"'
  return respond(record, status, Object.assign(headers, more), redactorOf(config).json(body))
}

export const envelope = (data: unknown, meta: AnswerMeta | Record<string, unknown>): string =>
  JSON.stringify({ data, meta })

/**
 * The error envelope of any thrown value. A value that is not an ApiError is logged in full and reported as
 * `internal_error`.
 */
export function errorResponse(
  kernel: Pick<Kernel, 'config' | 'log'>,
  thrown: unknown,
  requestId: string,
  origin: string,
): { status: number; body: string } {
  const known = thrown instanceof ApiError
  // In production the answer contains no cause; the log has it, and the name of a missing setting.
  if (known && thrown.unset !== undefined) {
    kernel.log.warn({ setting: thrown.unset, request_id: requestId }, 'a request needs a setting that is not set')
  } else if (!known || thrown.code === 'internal_error') {
    kernel.log.error({ err: thrown, request_id: requestId }, 'request failed')
  }
  const code = known ? thrown.code : 'internal_error'
  const status = known ? thrown.status : 500
  const redacted = redactorOf(kernel.config).text(thrown instanceof Error ? thrown.message : String(thrown))
  const isHidden = code === 'internal_error' && (kernel.config.production || redacted === '')
  const message = isHidden ? GENERIC_MESSAGE : redacted
  const base = kernel.config.values['public-url'] ?? origin
  const error = {
    code,
    message,
    ...(known && thrown.param !== undefined ? { param: thrown.param } : {}),
    ...(known && thrown.details !== undefined ? { details: thrown.details } : {}),
    doc_url: `${base.replace(/\/$/, '')}/v2/docs#error-${code}`,
  }
  return { status, body: JSON.stringify({ error, meta: { request_id: requestId } }) }
}
