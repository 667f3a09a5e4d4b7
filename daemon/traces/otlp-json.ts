/** Writes finished spans as OTLP/HTTP JSON (opentelemetry.io, OTLP specification 1.x). */
import type { FinishedSpan, SpanAttributes } from '../../src/platform/telemetry/spans.ts'
import { VERSION } from '../../src/platform/version.ts'
import type { Redactor } from '../../src/settings/redaction.ts'

const KINDS = { internal: 1, server: 2, client: 3 } as const
const ERROR_STATUS_CODE = 2

/** The body of one export request. Texts are redacted, because a client may choose some of them. */
export function otlpJson(spans: readonly FinishedSpan[], resource: Record<string, string>, redactor: Redactor): string {
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
