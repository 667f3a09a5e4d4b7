/** Answers: the success and error envelopes and the headers that every answer carries. */
import type { Meta } from '../../src/client.ts'
import { ApiError } from '../../src/errors.ts'
import type { Kernel } from '../kernel.ts'

const GENERIC = 'Something went wrong'

/** RFC 9110, 15.5.2: a 401 says how to authenticate. */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="svc"' }

export function jsonResponse(status: number, body: string, headers: Record<string, string>): Response {
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...(status === 401 ? CHALLENGE : {}), ...headers },
  })
}

export const envelope = (data: unknown, meta: Meta | Record<string, unknown>): string => JSON.stringify({ data, meta })

/** Removes credentials that a message from below may carry: user info and keys in URLs. */
export function redact(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1***@')
    .replace(/([?&][^=&\s]*(?:key|token|secret)[^=&\s]*=)[^&\s]+/gi, '$1***')
    .replace(/svc_(live|test)_[0-9A-Za-z]+/g, 'svc_$1_***')
}

/** The error envelope of anything thrown; what is not an ApiError is logged whole and told as `internal_error`. */
export function errorAnswer(
  kernel: Pick<Kernel, 'config' | 'log'>,
  thrown: unknown,
  requestId: string,
  origin: string,
): { status: number; body: string } {
  const known = thrown instanceof ApiError
  // In production the log alone says what it was.
  if (!known || thrown.code === 'internal_error') {
    kernel.log.error({ err: thrown, request_id: requestId }, 'request failed')
  }
  const code = known ? thrown.code : 'internal_error'
  const status = known ? thrown.status : 500
  const told = thrown instanceof Error ? thrown.message : String(thrown)
  const message = code === 'internal_error' ? (kernel.config.production ? GENERIC : redact(told) || GENERIC) : told
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
