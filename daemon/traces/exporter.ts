/**
 * Sends finished spans to an OpenTelemetry collector in batches; if it is slow or absent, spans are lost but requests
 * continue.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Counter, type Registry } from 'prom-client'
import type { Log } from '../../src/platform/log.ts'
import { endpointOf } from '../../src/platform/telemetry/calls.ts'
import { type FinishedSpan, onSpans, type SpanAttributes } from '../../src/platform/telemetry/spans.ts'
import { retryAfterMs, withTimeout } from '../../src/platform/timing.ts'
import { VERSION } from '../../src/platform/version.ts'
import type { Redactor } from '../../src/settings/redaction.ts'
import type { TraceSettings } from './settings.ts'

const EXPORT_ATTEMPTS = 3
const FIRST_EXPORT_WAIT_MS = 1_000
const LONGEST_EXPORT_WAIT_MS = 10_000
/** Statuses after which OTLP asks to send the batch again. */
const RETRYABLE = new Set([429, 502, 503, 504])
/** Milliseconds that a shutdown waits for the last spans. */
const CLOSE_TIMEOUT_MS = 1_500

export interface Exporter {
  /** Sends waiting spans, as far as the collector accepts them within 1.5 seconds, and ends. */
  close(): Promise<void>
}

interface ExporterServices {
  registry: Registry
  log: Log
  redactor: Redactor
}

/** Records spans from now on. */
export function startExporter(settings: TraceSettings, { registry, log, redactor }: ExporterServices): Exporter {
  const spans = new Counter({
    name: 'svc_trace_spans_total',
    help: 'Spans that were exported, or dropped because the collector did not accept them',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  for (const outcome of ['exported', 'dropped']) spans.inc({ outcome }, 0)
  const { url, headers, resource, sampler, timeoutMs, delayMs, batchSize, queueSize } = settings
  const collector = endpointOf(url)
  const closing = new AbortController()
  let queue: FinishedSpan[] = []
  let exporting: Promise<void> | undefined
  let wasFailing = false

  function add(span: FinishedSpan): void {
    if (queue.length >= queueSize) {
      spans.inc({ outcome: 'dropped' })
      return
    }
    queue.push(span)
    if (queue.length >= batchSize) exportSoon()
  }

  function exportSoon(): void {
    exporting ??= exportAll()
      .catch((error) => log.debug({ err: error }, 'traces were not exported'))
      .finally(() => {
        exporting = undefined
      })
  }

  /** Exports batches until none is waiting. */
  async function exportAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchSize)
      queue = queue.slice(batchSize)
      const fault = await send(otlpJson(batch, resource, redactor))
      spans.inc({ outcome: fault === null ? 'exported' : 'dropped' }, batch.length)
      if (fault !== null && !wasFailing) log.warn({ collector, fault }, 'traces are not exported')
      if (fault === null && wasFailing) log.info({ collector }, 'traces are exported again')
      wasFailing = fault !== null
    }
  }

  /** Returns why a batch was not accepted, or null. */
  async function send(body: string): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      let waitMs = FIRST_EXPORT_WAIT_MS * 2 ** (attempt - 1)
      let fault: string
      try {
        const answer = await withTimeout(timeoutMs, closing.signal, async (signal) => {
          const response = await fetch(url, {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body,
            signal,
            redirect: 'manual',
          })
          await response.body?.cancel()
          return response
        })
        if (answer.ok) return null
        fault = `HTTP ${answer.status}`
        if (!RETRYABLE.has(answer.status)) return fault
        waitMs = retryAfterMs(answer.headers) ?? waitMs
      } catch (error) {
        fault = (error as Error).name === 'TimeoutError' ? 'no answer in time' : 'it cannot be reached'
      }
      if (attempt === EXPORT_ATTEMPTS || closing.signal.aborted) return fault
      const wait = { signal: closing.signal, ref: false }
      await delay(Math.min(waitMs, LONGEST_EXPORT_WAIT_MS), undefined, wait).catch(() => {})
    }
  }

  const stop = onSpans(sampler, add)
  const timer = setInterval(exportSoon, delayMs).unref()
  return {
    async close() {
      stop()
      clearInterval(timer)
      const giveUp = setTimeout(() => closing.abort(), CLOSE_TIMEOUT_MS)
      await exporting
      await exportAll().catch(() => {})
      clearTimeout(giveUp)
    },
  }
}

// Writes finished spans as OTLP/HTTP JSON (opentelemetry.io, OTLP specification 1.x).

const KINDS = { internal: 1, server: 2, client: 3 } as const
const ERROR_STATUS_CODE = 2

/** The body of one export request. Texts are redacted, because a client may choose some of them. */
function otlpJson(spans: readonly FinishedSpan[], resource: Record<string, string>, redactor: Redactor): string {
  return redactor.json(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: otlpAttributes(resource, redactor) },
          scopeSpans: [
            { scope: { name: 'svc', version: VERSION }, spans: spans.map((span) => otlpSpan(span, redactor)) },
          ],
        },
      ],
    }),
  )
}

function otlpSpan({ span, name, kind, startedAt, endedAt, attributes, failed }: FinishedSpan, redactor: Redactor) {
  const { traceId, spanId, parentSpanId } = span
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: otlpAttributes(attributes, redactor),
    status: failed ? { code: ERROR_STATUS_CODE } : {},
  }
}

/** Digits, because nanoseconds since 1970 exceed 2^53; fractions of a millisecond are exact to the microsecond. */
const nanoseconds = (milliseconds: number) => `${Math.round(milliseconds * 1_000)}000`

const otlpAttributes = (attributes: SpanAttributes, { text }: Redactor) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: text(value) }
        : typeof value === 'boolean'
          ? { boolValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value },
  }))
