/** What is known of one request: its id and its trace when it arrives, its route and its key as they are found, and its end. */
import { finishSpan, runInSpan, type Span, startTrace } from '../../src/platform/telemetry/spans.ts'
import { parseTraceparent } from '../../src/platform/telemetry/trace-context.ts'
import type { AnswerReason, HttpMetrics } from '../metrics/http.ts'
import { bytesOf } from './answer.ts'
import { makeRequestId, requestIdOf } from './request-id.ts'

export interface RequestRecord {
  requestId: string
  /** Whether the client chose the id. */
  isClientId: boolean
  /** The error of an invalid X-Request-Id. */
  fault: unknown
  /** An HTTP method in upper case, or `OTHER`. */
  method: string
  /** Template of the route, such as `/v2/pools/{address}`; `unmatched` where there is none. */
  route: string
  keyId: string | null
  span: Span
  /** Status of the answer; 0 before there is one. */
  status: number
  /** Time from the request to the answer. */
  milliseconds: number
  /** Bytes of the answer's body; null where they are not known. */
  bytes: number | null
  reason?: AnswerReason
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
export const unparsedRecord = (): RequestRecord => ({
  requestId: makeRequestId(),
  isClientId: false,
  fault: undefined,
  method: 'OTHER',
  route: UNMATCHED,
  keyId: null,
  span: startTrace(),
  status: 0,
  milliseconds: 0,
  bytes: null,
})

/** What a request says of itself, whoever received it. */
export interface RequestHead {
  method: string
  /** Value of a header by its name in lower case; null without it. Several of a name are joined by `, `. */
  header(name: string): string | null
}

export const headOf = (request: Request): RequestHead => ({
  method: request.method,
  header: (name) => request.headers.get(name),
})

function recordOf({ method, header }: RequestHead): RequestRecord {
  const { id, isClients, fault } = requestIdOf(header('x-request-id'))
  const span = startTrace(parseTraceparent(header('traceparent')))
  span.requestId = id
  return {
    requestId: id,
    isClientId: isClients,
    fault,
    method: METHODS.has(method) ? method : 'OTHER',
    route: UNMATCHED,
    keyId: null,
    span,
    status: 0,
    milliseconds: 0,
    bytes: null,
  }
}

export interface Recording {
  metrics: HttpMetrics
  access: AccessLog | undefined
}

/** What a record keeps of an answer. */
export interface Outcome {
  status: number
  /** Null where they are not known. */
  bytes: number | null
}

/** Answers a request within its trace, and counts and logs the answer. `answer` does not throw. */
export async function recordRequest(
  recording: Recording,
  request: Request,
  answer: (record: RequestRecord) => Response | Promise<Response>,
): Promise<Response> {
  return recordHead(recording, headOf(request), answer, outcomeOf)
}

/**
 * The same for a request of which only the head is known, at once where the answer is; `outcome` tells of an answer
 * what the record keeps.
 */
export function recordHead<A>(
  recording: Recording,
  head: RequestHead,
  answer: (record: RequestRecord) => A | Promise<A>,
  outcome: (answer: A) => Outcome,
): A | Promise<A> {
  const record = recordOf(head)
  const started = performance.now()
  const { metrics } = recording
  metrics.begin()
  const finish = (known: Outcome | undefined) => {
    recordAnswer(recording, record, known, performance.now() - started)
    metrics.end()
  }
  const answered = (given: A) => {
    finish(outcome(given))
    return given
  }
  const failed = (error: unknown): never => {
    finish(undefined)
    throw error
  }
  let given: A | Promise<A>
  try {
    given = runInSpan(record.span, () => answer(record))
  } catch (error) {
    return failed(error)
  }
  return given instanceof Promise ? given.then(answered, failed) : answered(given)
}

export const outcomeOf = (response: Response): Outcome => ({ status: response.status, bytes: bytesOf(response) })

/** Counts and logs an answer; undefined where answering failed. */
export function recordAnswer(
  { metrics, access }: Recording,
  record: RequestRecord,
  outcome: Outcome | undefined,
  milliseconds: number,
): void {
  record.status = outcome?.status ?? 500
  record.milliseconds = milliseconds
  record.bytes = outcome === undefined ? null : (outcome.bytes ?? record.bytes)
  metrics.answered(record.method, record.route, record.status, milliseconds / 1000, record.bytes ?? 0, record.reason)
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
