/** Builds answers: success and error envelopes, and the headers of every answer. */
import type { AnswerMeta } from '../../src/client.ts'
import { ApiError, GENERIC_MESSAGE } from '../../src/platform/errors.ts'
import { redactorOf } from '../../src/settings/redaction.ts'
import type { Kernel } from '../kernel.ts'
import type { RequestRecord } from './request-record.ts'

/** RFC 9110, 15.5.2: a 401 must state how to authenticate. */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="svc"' }

/**
 * Any answer may contain or reveal a secret key, so caches must not store it. Configured credentials are redacted from
 * every body.
 */
const SECURITY_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

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

export function jsonResponse(
  { config }: Pick<Kernel, 'config'>,
  record: RequestRecord,
  status: number,
  body: string,
  more: Record<string, string> = {},
): Response {
  const challenge = status === 401 ? CHALLENGE : undefined
  const headers = { ...SECURITY_HEADERS, ...challenge, 'X-Request-Id': record.requestId, ...more }
  return respond(record, status, headers, redactorOf(config).json(body))
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
  // In production the answer contains no cause, except the name of a missing setting; the log has the cause.
  if (known && thrown.unset !== undefined) {
    kernel.log.warn({ setting: thrown.unset, request_id: requestId }, 'a request needs a setting that is not set')
  } else if (!known || thrown.code === 'internal_error') {
    kernel.log.error({ err: thrown, request_id: requestId }, 'request failed')
  }
  const code = known ? thrown.code : 'internal_error'
  const status = known ? thrown.status : 500
  const redacted = redactorOf(kernel.config).text(thrown instanceof Error ? thrown.message : String(thrown))
  const unset = known && thrown.unset !== undefined ? `${thrown.unset} is not set` : undefined
  const message =
    code === 'internal_error'
      ? kernel.config.production
        ? (unset ?? GENERIC_MESSAGE)
        : redacted || GENERIC_MESSAGE
      : redacted
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
