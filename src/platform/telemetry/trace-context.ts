/**
 * W3C Trace Context (https://www.w3.org/TR/trace-context/): reads and writes `traceparent`, and makes the ids in it.
 */
import { randomFillSync } from 'node:crypto'

export interface TraceContext {
  /** 32 hex digits, the same in every service of the trace. */
  traceId: string
  /** 16 hex digits. */
  spanId: string
  /** Whether the trace is recorded. */
  sampled: boolean
}

/** The longest header that is read. Later versions of the standard may append fields. */
const LONGEST_TRACEPARENT = 512
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const INVALID_VERSION = 'ff'
const SAMPLED_FLAG = 1

/** Returns the caller's context; undefined if the header is absent or malformed, so that a new trace starts. */
export function parseTraceparent(header: string | null): TraceContext | undefined {
  if (header === null || header.length > LONGEST_TRACEPARENT) return undefined
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header) ?? []
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (version === INVALID_VERSION || (version === '00' && rest !== undefined)) return undefined
  if (isZero(traceId) || isZero(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) === SAMPLED_FLAG }
}

export const formatTraceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`

export const newTraceId = (): string => randomHex(16)
export const newSpanId = (): string => randomHex(8)

const isZero = (id: string) => id.startsWith('0') && /^0+$/.test(id)

/** Random bytes are made in batches, because one call for a few bytes costs more than taking them from a batch. */
const batch = Buffer.alloc(4_096)
let used = batch.length

/** Random bytes as hex digits, never all zero. */
export function randomHex(bytes: number): string {
  if (used + bytes > batch.length) {
    randomFillSync(batch)
    used = 0
  }
  const id = batch.toString('hex', used, used + bytes)
  used += bytes
  // The standard forbids an id of zeros.
  return isZero(id) ? randomHex(bytes) : id
}
