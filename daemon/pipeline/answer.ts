/** Builds answers: the success and error envelopes and the headers that every answer carries. */
import type { ServerResponse } from 'node:http'
import type { AnswerMeta } from '../../src/client.ts'
import { ApiError, GENERIC_MESSAGE } from '../../src/platform/errors.ts'
import { redactorOf } from '../../src/settings/redaction.ts'
import type { Kernel } from '../kernel.ts'

/** RFC 9110, 15.5.2: a 401 must state how to authenticate. */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="svc"' }

/**
 * Any answer may contain a secret key or reveal one, so caches must not store it. Configured credentials are redacted
 * from every body.
 */
const SECURITY_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

const SECURITY_LIST = Object.entries(SECURITY_HEADERS).flat()
const CHALLENGE_LIST = Object.entries(CHALLENGE).flat()

/** An answer before it becomes a Response, or is written to a connection as it is. */
export interface Answer {
  status: number
  /** Headers besides those that every answer of its status has. */
  headers: Record<string, string>
  body: string
  /** Length of the body as UTF-8. */
  bytes: number
}

export function jsonAnswer(
  { config }: Pick<Kernel, 'config'>,
  status: number,
  body: string,
  headers: Record<string, string>,
): Answer {
  const redacted = redactorOf(config).json(body)
  return { status, headers, body: redacted, bytes: Buffer.byteLength(redacted) }
}

/** All headers of an answer but its length. */
export const headersOf = ({ status, headers }: Pick<Answer, 'status' | 'headers'>): Record<string, string> => ({
  ...SECURITY_HEADERS,
  ...(status === 401 ? CHALLENGE : {}),
  ...headers,
})

export const answerAsResponse = (answer: Answer): Response => {
  const { status, body, bytes } = answer
  return withBytes(new Response(body, { status, headers: headersOf(answer) }), bytes)
}

/**
 * Writes the answer to its connection, and ends it after the `rest` of the request's body. A list of names and values
 * costs Node less than an object.
 */
export function writeAnswer(
  outgoing: ServerResponse,
  { status, headers, body, bytes }: Answer,
  rest?: Promise<void>,
): void {
  const list = status === 401 ? [...SECURITY_LIST, ...CHALLENGE_LIST] : SECURITY_LIST.slice()
  for (const name in headers) list.push(name, headers[name] ?? '')
  list.push('Content-Length', String(bytes))
  outgoing.writeHead(status, list)
  // Text of one byte a character is ASCII, which needs no encoding.
  const encoding = bytes === body.length ? 'latin1' : 'utf8'
  if (rest === undefined) outgoing.end(body, encoding)
  else {
    outgoing.write(body, encoding)
    void rest.then(() => outgoing.end())
  }
}

export const jsonResponse = (...answer: Parameters<typeof jsonAnswer>): Response =>
  answerAsResponse(jsonAnswer(...answer))

const bodyBytes = new WeakMap<Response, number>()

/** Notes the bytes of an answer's body; reading its headers instead would cost more than answering. */
export function withBytes(response: Response, bytes: number): Response {
  bodyBytes.set(response, bytes)
  return response
}

/** The bytes of an answer's body; null where they were not noted. */
export const bytesOf = (response: Response): number | null => bodyBytes.get(response) ?? null

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
  // In production the answer gives no cause, except for the name of a missing setting; the log has the cause.
  if (known && thrown.unset !== undefined) {
    kernel.log.warn({ setting: thrown.unset, request_id: requestId }, 'a request needs what is not configured')
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
