/** Parts of responses in the OpenAPI document besides their data: headers, and the error of each status. */

/** Response headers under the names with which they are sent. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request: the one that you sent, or a new one; the same as `meta.request_id`',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'req_5f1c2a9e8b7d4c6f9a0b1c2d3e4f5a6b',
  },
  'RateLimit-Policy': {
    description: 'Quotas of the key, IETF draft: `q` requests in `w` seconds; absent if the key has no limits',
    schema: { type: 'string' },
    example: '"minute";q=120;w=60, "day";q=50000;w=86400',
  },
  RateLimit: {
    description: 'Remaining quotas, IETF draft: `r` requests, and `t` seconds until the next one is free',
    schema: { type: 'string' },
    example: '"minute";r=119;t=60, "day";r=49999;t=86400',
  },
  'Retry-After': {
    description: 'Seconds to wait before repeating the request',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  'Idempotent-Replayed': {
    description: '`true` if this is the stored answer of an earlier request with the same Idempotency-Key',
    schema: { type: 'string', enum: ['true'] as string[] },
    example: 'true',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 6750)',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="svc"',
  },
  'Cache-Control': {
    description: 'Answers may contain secrets, so no cache may store them',
    schema: { type: 'string' },
    example: 'no-store',
  },
  'X-Content-Type-Options': {
    description: 'Browsers must not guess another type than the Content-Type',
    schema: { type: 'string', enum: ['nosniff'] as string[] },
    example: 'nosniff',
  },
} as const

type ResponseHeader = keyof typeof RESPONSE_HEADERS

interface ErrorDescription {
  code: string
  description: string
  /** What the caller can do about it. */
  remedy: string
  /** Example of an `error` object without its code and `doc_url`. */
  example: { message: string; param?: string; details?: Record<string, unknown> }
}

/** All error statuses, each with its only code. */
export const ERRORS = {
  400: {
    code: 'bad_request',
    description: 'Invalid input or a violated business rule; `param` names the field',
    remedy:
      'Correct the field that `param` names. The same request fails again, unless the state that it names has changed; with `Retry-After`, it may succeed after that time',
    example: {
      message: 'mint: must be a base58 address of 32 to 44 characters',
      param: 'mint',
      details: { issues: [{ param: 'mint', message: 'must be a base58 address of 32 to 44 characters' }] },
    },
  },
  401: {
    code: 'unauthorized',
    description: 'The bearer key is missing or malformed',
    remedy: 'Send `Authorization: Bearer …` with an API key',
    example: { message: 'Missing or invalid API key' },
  },
  403: {
    code: 'forbidden',
    description: 'The key is invalid or revoked, lacks a scope, or would change what another key created',
    remedy:
      'Use a key with the scope that the message names, or the key that created the resource; `svc keys list` shows keys and scopes',
    example: { message: 'API key missing required scope(s): fees:claim' },
  },
  404: {
    code: 'not_found',
    description: 'The resource exists neither on chain nor in the database',
    remedy: 'Check the path, the id, and which cluster the service uses (`svc status`)',
    example: { message: 'There is no pool So11111111111111111111111111111111111111112' },
  },
  409: {
    code: 'conflict',
    description: 'The Idempotency-Key was used with another request, or its first request is still running',
    remedy:
      'Take a new Idempotency-Key for another request. If the first one is running, repeat it a second later with the same key',
    example: { message: 'This Idempotency-Key was used with another request', param: 'Idempotency-Key' },
  },
  429: {
    code: 'rate_limited',
    description: 'The per-minute or per-day quota of the key is exceeded',
    remedy:
      'Repeat it after the seconds of `Retry-After`; a key with `svc keys create --per-minute N` has a higher limit',
    example: { message: 'Too many requests this minute' },
  },
  500: {
    code: 'internal_error',
    description: 'A fault of the service, of its node or of its signer; it can be retried',
    remedy:
      'Repeat it with the same Idempotency-Key, after `Retry-After` if there is one. The log of the service has the cause under the request id',
    example: { message: 'Something went wrong' },
  },
} as const satisfies Record<number, ErrorDescription>

export type ErrorStatus = keyof typeof ERRORS

/** Returns the complete example response for a status in the document. */
export function errorExample(status: ErrorStatus) {
  const { code, example } = ERRORS[status]
  return {
    error: { code, ...example, doc_url: `http://127.0.0.1:8787/v2/docs#error-${code}` },
    meta: { request_id: RESPONSE_HEADERS['X-Request-Id'].example },
  }
}

/** Returns the headers of a response with that status as references to the document's components. */
export function responseHeaders(status: number, { write, open }: { write: boolean; open: boolean }) {
  const names: ResponseHeader[] = ['X-Request-Id', 'Cache-Control', 'X-Content-Type-Options']
  // Quotas belong to a key, so responses to unauthenticated requests have no quota headers.
  if (!open && status !== 401) names.push('RateLimit-Policy', 'RateLimit')
  if (status === 429) names.push('Retry-After')
  if (status === 401) names.push('WWW-Authenticate')
  if (write && status < 300) names.push('Idempotent-Replayed')
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
