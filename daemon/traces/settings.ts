/**
 * Reads OpenTelemetry's standard environment variables (opentelemetry.io, "Environment Variable Specification") for
 * traces.
 */
import type { Sampler } from '../../src/platform/telemetry/spans.ts'
import { parseUrl } from '../../src/platform/urls.ts'

export type TraceEnvironment = Readonly<Record<string, string | undefined>>

export interface TraceSettings {
  /** Where batches are posted. It may contain a key and is never printed. */
  url: string
  headers: Record<string, string>
  /** Attributes of this service, `service.name` among them. */
  resource: Record<string, string>
  sampler: Sampler
  timeoutMs: number
  delayMs: number
  batchSize: number
  /** The most waiting spans; further ones are dropped. */
  queueSize: number
}

interface TraceConfiguration {
  /** Null if no traces are requested, or if they cannot be sent. */
  settings: TraceSettings | null
  /** Problems of the variables, without their values. */
  warnings: string[]
}

const TRACES_PATH = '/v1/traces'

/** Traces are exported if an endpoint is set. An invalid variable is ignored, as the standard requires. */
export function traceSettings(env: TraceEnvironment): TraceConfiguration {
  const warnings: string[] = []
  const none = { settings: null, warnings }
  const value = (name: string) => env[name]?.trim() || undefined
  /** The variable for traces, or the one for every signal. */
  const ofTraces = (name: string) => value(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? value(`OTEL_EXPORTER_OTLP_${name}`)
  const [base, whole] = [value('OTEL_EXPORTER_OTLP_ENDPOINT'), value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')]
  const exporter = value('OTEL_TRACES_EXPORTER') ?? 'otlp'
  const isOff = value('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none'
  if (isOff || (base === undefined && whole === undefined)) return none
  if (exporter !== 'otlp') {
    warnings.push('OTEL_TRACES_EXPORTER: only otlp and none are supported, so no traces are exported')
    return none
  }
  if (ofTraces('PROTOCOL') === 'grpc') {
    warnings.push('OTEL_EXPORTER_OTLP_PROTOCOL: only http/json is supported, so no traces are exported')
    return none
  }
  const url = whole ?? `${(base ?? '').replace(/\/+$/, '')}${TRACES_PATH}`
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? '')) {
    const name = whole === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    warnings.push(`${name} is not an http or https URL, so no traces are exported`)
    return none
  }
  const wholeNumber = (name: string, standard: number, text = value(name)) => {
    if (text === undefined) return standard
    if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
    warnings.push(`${name} must be a whole number of at least 1; ${standard} is used`)
    return standard
  }
  const queueSize = wholeNumber('OTEL_BSP_MAX_QUEUE_SIZE', 2_048)
  const settings: TraceSettings = {
    url,
    headers: pairs(ofTraces('HEADERS'), 'OTEL_EXPORTER_OTLP_HEADERS', warnings),
    resource: {
      ...pairs(value('OTEL_RESOURCE_ATTRIBUTES'), 'OTEL_RESOURCE_ATTRIBUTES', warnings),
      ...(value('OTEL_SERVICE_NAME') === undefined ? {} : { 'service.name': value('OTEL_SERVICE_NAME') ?? '' }),
    },
    sampler: samplerOf(value('OTEL_TRACES_SAMPLER'), value('OTEL_TRACES_SAMPLER_ARG'), warnings),
    timeoutMs: wholeNumber('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000, ofTraces('TIMEOUT')),
    delayMs: wholeNumber('OTEL_BSP_SCHEDULE_DELAY', 5_000),
    batchSize: Math.min(queueSize, wholeNumber('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
    queueSize,
  }
  settings.resource['service.name'] ??= 'svc'
  return { settings, warnings }
}

/** Parses `name=value,name=value` with percent-encoded values. */
function pairs(text: string | undefined, variable: string, warnings: string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const part of (text ?? '').split(',')) {
    if (part.trim() === '') continue
    const [, name, encoded] = /^\s*([\w.-]+)\s*=(.*)$/.exec(part) ?? []
    const decoded = decodedValue(encoded?.trim())
    if (name === undefined || decoded === undefined) {
      warnings.push(`${variable}: a part that is not name=value is ignored`)
    } else found[name] = decoded
  }
  return found
}

/** Undefined for text that is not allowed in a header. */
function decodedValue(encoded: string | undefined): string | undefined {
  try {
    const text = decodeURIComponent(encoded ?? '')
    return encoded === undefined || /[^\t\x20-\x7e\x80-\xff]/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

const PARENT_BASED = 'parentbased_'
const SAMPLERS = ['always_on', 'always_off', 'traceidratio']

function samplerOf(name = `${PARENT_BASED}always_on`, argument: string | undefined, warnings: string[]): Sampler {
  const isParentBased = name.startsWith(PARENT_BASED)
  const kind = isParentBased ? name.slice(PARENT_BASED.length) : name
  if (!SAMPLERS.includes(kind)) {
    warnings.push(`OTEL_TRACES_SAMPLER must be ${SAMPLERS.join(', ')}, or one of them after ${PARENT_BASED}`)
    return samplerOf(undefined, undefined, warnings)
  }
  const share = kind === 'always_on' ? 1 : kind === 'always_off' ? 0 : shareOf(argument, warnings)
  return (traceId, remote) => (isParentBased && remote !== undefined ? remote.sampled : isWithin(traceId, share))
}

function shareOf(argument: string | undefined, warnings: string[]): number {
  const share = Number(argument ?? '1')
  if (share >= 0 && share <= 1) return share
  warnings.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; 1 is used')
  return 1
}

/** The last digits of an id are random, so every service makes the same decision about a trace. */
const DIGITS = 13
const isWithin = (traceId: string, share: number) => Number.parseInt(traceId.slice(-DIGITS), 16) < share * 16 ** DIGITS
