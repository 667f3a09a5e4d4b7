/** The record of one request: id and trace at its arrival, then its route, key and answer. */
import type { IncomingMessage } from 'node:http'
import { badRequest } from '../../src/platform/errors.ts'
import { finishSpan, runInSpan, type Span, startTrace } from '../../src/platform/telemetry/spans.ts'
import { parseTraceparent, randomHex } from '../../src/platform/telemetry/trace-context.ts'
import type { Row } from '../../src/store/schema.ts'
import type { AnswerReason, HttpMetrics } from '../metrics/http.ts'

export interface RequestRecord {
  requestId: string
  /** Whether the client chose the id. */
  isClientId: boolean
  /** The error of an invalid X-Request-Id. */
  fault: unknown
  /** An HTTP method in upper case, or `OTHER`. */
  method: string
  /** Template of the route, such as `/v2/pools/{address}`; `unmatched` if no route matches. */
  route: string
  keyId: string | null
  span: Span
  /** Status of the answer; 0 before the answer. */
  status: number
  /** Time from the request to the answer. */
  milliseconds: number
  /** Bytes of the answer's body; null if unknown. */
  bytes: number | null
  reason?: AnswerReason
  /** Node's message; undefined for a request without a connection. */
  incoming: IncomingMessage | undefined
  /** The key of a request that the console makes for a session it has checked. No header can set it. */
  caller?: Row<'api_keys'>
}

/** The bindings of hono's handlers: `c.env` is the record of the request. */
export interface RequestEnv {
  Bindings: RequestRecord
}

/** Receives the record of an answered request. */
export type AccessLog = (record: RequestRecord) => void

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
const UNMATCHED = 'unmatched'

/** The record of input that was never parsed as a request. */
export const unparsedRecord = (): RequestRecord => openRecord(makeRequestId(), 'OTHER', startTrace(), undefined)

function openRecord(
  requestId: string,
  method: string,
  span: Span,
  incoming: IncomingMessage | undefined,
): RequestRecord {
  return {
    requestId,
    isClientId: false,
    fault: undefined,
    method,
    route: UNMATCHED,
    keyId: null,
    span,
    status: 0,
    milliseconds: 0,
    bytes: null,
    incoming,
  }
}

function arrived({ method, headers }: Request, incoming: IncomingMessage | undefined): RequestRecord {
  const { id, isClients, fault } = requestIdOf(headers.get('x-request-id'))
  const span = startTrace(parseTraceparent(headers.get('traceparent')))
  span.requestId = id
  const record = openRecord(id, METHODS.has(method) ? method : 'OTHER', span, incoming)
  record.isClientId = isClients
  record.fault = fault
  return record
}

export interface Recording {
  metrics: HttpMetrics
  access: AccessLog | undefined
}

/** Answers a request within its trace, and counts and logs the answer. */
export async function recordRequest(
  recording: Recording,
  request: Request,
  incoming: IncomingMessage | undefined,
  answer: (record: RequestRecord) => Response | Promise<Response>,
): Promise<Response> {
  const record = arrived(request, incoming)
  const started = performance.now()
  const { metrics } = recording
  metrics.begin()
  let status = 500
  try {
    const response = await runInSpan(record.span, () => answer(record))
    status = response.status
    return response
  } finally {
    recordAnswer(recording, record, status, performance.now() - started)
    metrics.end()
  }
}

/** Counts and logs an answer. */
export function recordAnswer(
  { metrics, access }: Recording,
  record: RequestRecord,
  status: number,
  milliseconds: number,
): void {
  record.status = status
  record.milliseconds = milliseconds
  metrics.answered(record.method, record.route, status, milliseconds / 1000, record.bytes ?? 0, record.reason)
  access?.(record)
  finishSpan(record.span, () => requestSpan(record))
}

function requestSpan({ method, route, keyId, requestId, status, milliseconds }: RequestRecord) {
  const endedAt = Date.now()
  return {
    name: `${method} ${route}`,
    kind: 'server' as const,
    startedAt: endedAt - milliseconds,
    endedAt,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'svc.request_id': requestId,
      ...(keyId === null ? {} : { 'svc.api_key_id': keyId }),
    },
    failed: status >= 500,
  }
}

// Request ids: the id that a client sends is returned to it; otherwise a new one is made.

const makeRequestId = () => `req_${randomHex(16)}`

/**
 * The client's id of the header X-Request-Id (1-128 visible ASCII characters) or a new one. If the client's id is
 * invalid, the id is new and `fault` is the error.
 */
function requestIdOf(header: string | null): { id: string; isClients: boolean; fault?: unknown } {
  if (header === null) return { id: makeRequestId(), isClients: false }
  if (/^[\x21-\x7e]{1,128}$/.test(header)) return { id: header, isClients: true }
  // A header that is sent twice arrives as one, joined by a comma and a space.
  const said = header.includes(', ') ? 'has two values, or a space: send one value of' : 'must be'
  const fault = badRequest(`X-Request-Id ${said} 1 to 128 visible ASCII characters`, { param: 'X-Request-Id' })
  return { id: makeRequestId(), isClients: false, fault }
}
