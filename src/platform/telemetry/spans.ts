/**
 * Spans: units of work of a trace. The log and outgoing calls take the active one; finished ones are published on a
 * channel.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { newSpanId, newTraceId, type TraceContext } from './trace-context.ts'

export interface Span extends TraceContext {
  parentSpanId: string | undefined
  /** Id of the API request that the work belongs to. */
  requestId?: string
}

export type SpanAttributes = Record<string, string | number | boolean>

/** A span that has ended, as the exporter receives it. */
export interface FinishedSpan {
  span: Span
  name: string
  kind: 'server' | 'client' | 'internal'
  /** Unix milliseconds. */
  startedAt: number
  endedAt: number
  attributes: SpanAttributes
  failed: boolean
}

const activeSpans = new AsyncLocalStorage<Span>()
const finished = channel('svc.span')

/** The span of the code that is running, if any. */
export const activeSpan = (): Span | undefined => activeSpans.getStore()

export const runInSpan = <T>(span: Span, work: () => T): T => activeSpans.run(span, work)

/** Decides whether a trace is recorded; `remote` is the caller's context. Without an exporter nothing is recorded. */
export type Sampler = (traceId: string, remote: TraceContext | undefined) => boolean

const passOn: Sampler = (_, remote) => remote?.sampled ?? false
let sampler: Sampler = passOn

/** Starts a span in another service's trace, or in a new one. */
export function startTrace(remote?: TraceContext): Span {
  const traceId = remote?.traceId ?? newTraceId()
  return { traceId, spanId: newSpanId(), parentSpanId: remote?.spanId, sampled: sampler(traceId, remote) }
}

/** Starts a span within the active one, or a new trace if none is active. */
export function startSpan(): Span {
  const parent = activeSpan()
  return parent === undefined ? startTrace() : { ...parent, spanId: newSpanId(), parentSpanId: parent.spanId }
}

/** Passes a span that has ended to the exporter, if there is one; `make` is only called then. */
export function finishSpan(span: Span, make: () => Omit<FinishedSpan, 'span'>): void {
  if (span.sampled && finished.hasSubscribers) finished.publish({ span, ...make() } satisfies FinishedSpan)
}

/** Runs `work` in a span, which fails if `work` rejects. `isRoot` starts a new trace. */
export async function inSpan<T>(
  { name, attributes = {}, isRoot = false }: { name: string; attributes?: SpanAttributes; isRoot?: boolean },
  work: () => Promise<T>,
): Promise<T> {
  const span = isRoot ? startTrace() : startSpan()
  const startedAt = Date.now()
  const finish = (failed: boolean) =>
    finishSpan(span, () => ({ name, kind: 'internal', startedAt, endedAt: Date.now(), attributes, failed }))
  try {
    const value = await runInSpan(span, work)
    finish(false)
    return value
  } catch (error) {
    finish(true)
    throw error
  }
}

/** Records sampled spans until the returned function is called. */
export function onSpans(decide: Sampler, act: (span: FinishedSpan) => void): () => void {
  const listener = (message: unknown) => act(message as FinishedSpan)
  sampler = decide
  finished.subscribe(listener)
  return () => {
    sampler = passOn
    finished.unsubscribe(listener)
  }
}
