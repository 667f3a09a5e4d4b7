/** Calls to other services: each is a span, carries `traceparent`, and is published with its outcome and duration. */
import { channel } from 'node:diagnostics_channel'
import { parseUrl } from '../urls.ts'
import { finishSpan, runInSpan, type Span, type SpanAttributes, startSpan, startTrace } from './spans.ts'
import { formatTraceparent } from './trace-context.ts'

export interface CallTarget {
  /** The service that is called. */
  service: 'rpc' | 'relay' | 'metadata' | 'price' | 'signer' | 'storage' | 'webhook'
  /** Host and port, or a word for a service without a host; never a path, because paths may contain keys. */
  endpoint: string
  /** Method or purpose, from a small set. */
  operation: string
  /** Whether the call starts its own trace instead of joining the active one. */
  isRoot?: boolean
  /** Further attributes of the call's span. */
  attributes?: SpanAttributes
}

/**
 * `ok`: a successful answer. `refused`: an error that blames the request. `busy`: 429 or 503. `failed`: any other error
 * of the service. `unanswered`: no complete answer came.
 */
export type CallOutcome = 'ok' | 'refused' | 'busy' | 'failed' | 'unanswered'

export interface FinishedCall extends CallTarget {
  outcome: CallOutcome
  seconds: number
}

const finished = channel('svc.call')

/** A call in progress: its trace headers, and the function that ends it. */
export interface BegunCall {
  span: Span
  /** Publishes the call; to be called once. */
  finish(outcome: CallOutcome): void
}

/** Starts a call that logs nothing and makes no further calls, so its span need not be active during it. */
export function beginCall(target: CallTarget): BegunCall {
  const span = target.isRoot ? startTrace() : startSpan()
  const [startedAt, started] = [Date.now(), performance.now()]
  return {
    span,
    finish(outcome) {
      const seconds = (performance.now() - started) / 1000
      finished.publish({ ...target, outcome, seconds } satisfies FinishedCall)
      finishSpan(span, () => ({
        name: `${target.service} ${target.operation}`,
        kind: 'client',
        startedAt,
        endedAt: startedAt + seconds * 1000,
        attributes: {
          ...target.attributes,
          'peer.service': target.service,
          'server.address': target.endpoint,
          'rpc.method': target.operation,
          'svc.outcome': outcome,
        },
        failed: outcome !== 'ok',
      }))
    },
  }
}

/** Makes the call with the headers of the trace; an error that `send` throws counts as unanswered. */
export async function observeCall<T>(
  target: CallTarget,
  send: (headers: { traceparent: string }) => Promise<T>,
  outcomeOf: (answer: T) => CallOutcome,
): Promise<T> {
  const { span, finish } = beginCall(target)
  let answer: T
  try {
    answer = await runInSpan(span, () => send({ traceparent: formatTraceparent(span) }))
  } catch (error) {
    finish('unanswered')
    throw error
  }
  finish(outcomeOf(answer))
  return answer
}

/** Receives every call until the returned function is called. */
export function onCalls(act: (call: FinishedCall) => void): () => void {
  const listener = (message: unknown) => act(message as FinishedCall)
  finished.subscribe(listener)
  return () => finished.unsubscribe(listener)
}

/** The endpoint of a URL: its host and port. */
export const endpointOf = (url: string): string => parseUrl(url)?.host ?? 'unknown'

export function outcomeOfStatus(status: number): CallOutcome {
  if (status >= 200 && status < 300) return 'ok'
  if (status === 429 || status === 503) return 'busy'
  return status >= 500 ? 'failed' : 'refused'
}
