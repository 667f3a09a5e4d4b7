/** The typed client of the API: `client.pools.create(input)` over any transport. */

import type { api } from './api/index.ts'
import { paths } from './api/paths.ts'
import type { AnyRoute, CallInput, Data, RoutePath } from './api/route.ts'
import type { Submitted, SubmittedBundle, SubmittedTransaction } from './api/transactions.ts'
import { ApiError, type ErrorCode } from './platform/errors.ts'
import { pause, SECOND_MS } from './platform/timing.ts'

export { ApiError, type ErrorCode, type ErrorExtras } from './platform/errors.ts'

export interface ClientRequest {
  method: string
  /** Path and query of the request, starting with a slash. */
  path: string
  headers: Record<string, string>
  body?: string | Uint8Array
}
export interface ClientResponse {
  status: number
  headers: Record<string, string>
  body: string
}
/** Sends one request, either through `app.fetch` in the same process or with `node:http` over the network. */
export type Transport = (request: ClientRequest) => Promise<ClientResponse>

export interface CallOptions {
  idempotencyKey?: string
  requestId?: string
}
export interface AnswerMeta {
  request_id: string
  external_uid?: string
  metadata?: Record<string, string>
}
export interface ListMeta extends AnswerMeta {
  has_more: boolean
  next_cursor: string | null
  count: number
}
export interface ClientAnswer<T, M = AnswerMeta> {
  data: T
  meta: M
}

type ApiRoutes = typeof api
type ClientCall<R extends AnyRoute> = (
  ...args: Record<never, never> extends CallInput<R>
    ? [input?: CallInput<R>, options?: CallOptions]
    : [input: CallInput<R>, options?: CallOptions]
) => Promise<R extends { list: true } ? ClientAnswer<Data<R>[], ListMeta> : ClientAnswer<Data<R>>>
/** The answer to a submission has the signature, and that to a bundle its id. */
interface SubmitCall {
  (
    ...args: [input: SubmitInput & { bundle?: false }, options?: CallOptions]
  ): Promise<ClientAnswer<SubmittedTransaction>>
  (...args: [input: SubmitInput & { bundle: true }, options?: CallOptions]): Promise<ClientAnswer<SubmittedBundle>>
  (...args: [input: SubmitInput, options?: CallOptions]): Promise<ClientAnswer<Submitted>>
}
type SubmitRoute = ApiRoutes['transactions']['submit']
type SubmitInput = CallInput<SubmitRoute>

export type Client = {
  [N in keyof ApiRoutes]: {
    [V in keyof ApiRoutes[N]]: ApiRoutes[N][V] extends AnyRoute
      ? ApiRoutes[N][V] extends SubmitRoute
        ? SubmitCall
        : ClientCall<ApiRoutes[N][V]>
      : never
  }
}

/** Error response of the API; `envelope` is the response body unchanged. */
export class ApiFailure extends ApiError {
  readonly envelope: { error: Record<string, unknown>; meta: { request_id: string } }
  /** Private, so that a log of the failure does not show it. */
  readonly #input: Readonly<Record<string, unknown>>

  /** `retryAfter` is that of the header, in seconds; `input` is what the call was given. */
  constructor(
    envelope: { error: Record<string, unknown>; meta: { request_id: string } },
    retryAfter?: number,
    input: Readonly<Record<string, unknown>> = {},
  ) {
    const { code, message, param, details } = envelope.error as {
      code: ErrorCode
      message: string
      param?: string
      details?: Record<string, unknown>
    }
    super(code, message, {
      ...(param === undefined ? {} : { param }),
      ...(details === undefined ? {} : { details }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    })
    this.envelope = envelope
    this.#input = input
  }

  /** The value that the call sent at a dotted path such as `splits.1.bps`; undefined if it sent none. */
  sent(param: string): unknown {
    return param
      .split('.')
      .reduce<unknown>((at, part) => (Object.hasOwn(Object(at), part) ? Object(at)[part] : undefined), this.#input)
  }
}

/**
 * Creates the client; `bearer` is the API key. Calls reject with `ApiFailure`, or with the transport's own error.
 *
 * @example
 * const client = createClient(fetchTransport('http://127.0.0.1:8787'), key)
 * const { data } = await client.apiKeys.create({ name: 'backend' }, { idempotencyKey: 'backend-1' })
 * const page = await client.airdrops.list({ limit: '50' })
 */
export function createClient(transport: Transport, bearer?: string): Client {
  const nouns = Object.entries(paths).map(([noun, verbs]) => [
    noun,
    Object.fromEntries(
      Object.entries(verbs as Record<string, RoutePath>).map(([verb, at]) => [
        verb,
        (input: Record<string, unknown> = {}, options: CallOptions = {}) => call(transport, bearer, at, input, options),
      ]),
    ),
  ])
  return Object.fromEntries(nouns) as Client
}

/**
 * A transport over `fetch`, for browsers and Node. `base` is the URL of the daemon; its path is part of every request.
 * It rejects like `fetch` if no answer comes.
 *
 * @example
 * const slow = AbortSignal.timeout(10_000)
 * const transport = fetchTransport('https://svc.example.com', (at, init) => fetch(at, { ...init, signal: slow }))
 */
export function fetchTransport(base: string, send: typeof fetch = globalThis.fetch): Transport {
  const root = base.replace(/\/+$/, '')
  return async ({ method, path, headers, body }) => {
    const answer = await send(root + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    })
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
  }
}

/** Total seconds that a request for a later page waits on HTTP 429; a first page is never retried. */
const MAX_PAGE_WAIT_S = 120

async function call(
  transport: Transport,
  bearer: string | undefined,
  [method, template]: RoutePath,
  input: Record<string, unknown>,
  options: CallOptions,
): Promise<unknown> {
  const rest = { ...input }
  let path: string = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name] ?? '')
    delete rest[name]
    // A URL drops such a part of a path, and then names another route.
    if (value === '.' || value === '..')
      throw new ApiError('bad_request', `${name} must not be "${value}"`, { param: name })
    return encodeURIComponent(value)
  })
  const headers: Record<string, string> = { accept: 'application/json' }
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`
  if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
  if (options.requestId !== undefined) headers['x-request-id'] = options.requestId
  let body: string | undefined
  if (method === 'get') {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(rest)) if (value !== undefined) query.set(name, String(value))
    if (query.size > 0) path += `?${query}`
  } else {
    headers['content-type'] = 'application/json'
    body = JSON.stringify(rest)
  }
  const request: ClientRequest = {
    method: method.toUpperCase(),
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  }
  let response = await transport(request)
  for (let waited = 0; response.status === 429 && input.cursor !== undefined; ) {
    const seconds = retryAfterOf(response)
    if (seconds === undefined || waited + seconds > MAX_PAGE_WAIT_S) break
    await pause(seconds * SECOND_MS)
    waited += seconds
    response = await transport(request)
  }
  const answer = parseAnswer(response)
  if (response.status >= 400) throw new ApiFailure(answer as never, retryAfterOf(response), input)
  return answer
}

/** The seconds of the header Retry-After; undefined without one. */
function retryAfterOf({ headers }: ClientResponse): number | undefined {
  const text = headers['retry-after'] ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function parseAnswer(response: ClientResponse): { data?: unknown; error?: unknown } {
  try {
    const answer = JSON.parse(response.body)
    if (response.status < 400 ? 'data' in answer : typeof answer.error?.code === 'string') return answer
  } catch {}
  throw new ApiError(
    'internal_error',
    `the server answered HTTP ${response.status} with something that is not this API's envelope`,
  )
}
