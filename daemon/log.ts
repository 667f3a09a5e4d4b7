/** The daemon's log on standard error: JSON lines, each with its request and trace, or lines for a person. */
import pino from 'pino'
import { ApiError } from '../src/platform/errors.ts'
import type { Log } from '../src/platform/log.ts'
import { activeSpan } from '../src/platform/telemetry/spans.ts'
import { isoTime } from '../src/platform/timing.ts'
import type { Config } from '../src/settings/config.ts'
import { type Redactor, redactorOf } from '../src/settings/redaction.ts'
import { createLineWriter, type LineWriter } from './line-writer.ts'
import type { AccessLog } from './pipeline/request-record.ts'
import { readableLine } from './readable-line.ts'

/** The log of the daemon; its level can be changed. */
export interface DaemonLog extends Log {
  level: string
  isLevelEnabled(level: string): boolean
  /** Writes the line of an answered request, if the log level includes such lines. */
  access: AccessLog
  /** Lines that were dropped because no reader took them. */
  dropped(): number
}

const SERVICE = 'svc'

/**
 * The fields of an error, with its causes and without credentials from its message. An error with a retry time is
 * expected and has an outside cause, such as a busy database, so it is logged without a stack.
 */
export function loggedError(error: unknown, { text }: Redactor): object | string {
  if (!(error instanceof Error)) return text(String(error))
  const { type, message, stack, code } = pino.stdSerializers.err(error) as ReturnType<
    typeof pino.stdSerializers.err
  > & { code?: unknown }
  const isForeseen = error instanceof ApiError && error.retryAfter !== undefined
  return {
    type,
    message: text(message ?? ''),
    ...(isForeseen ? {} : { stack: text(stack ?? '') }),
    ...(code === undefined ? {} : { code }),
  }
}

export function createLog(config: Config, lines: LineWriter = createLineWriter()): DaemonLog {
  const writer = isForPeople(config) ? readableWriter(lines) : lines
  const redactor = redactorOf(config)
  const logger = pino(
    {
      level: config.values['log-level'],
      base: { service: SERVICE },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error) => loggedError(error, redactor) },
      mixin: traceFields,
      redact: ['*.key', '*.secret', '*.authorization', 'headers.authorization'],
    },
    // The redactor processes the whole line, so it covers every field.
    { write: (line: string) => writer.write(redactor.json(line)) },
  )
  process.once('exit', () => writer.flush())
  const write = accessLog(writer, redactor)
  return Object.assign(logger, {
    access: (record: Parameters<AccessLog>[0]) => {
      if (logger.isLevelEnabled('info')) write(record)
    },
    dropped: () => writer.dropped(),
  })
}

const isForPeople = ({ values }: Config): boolean =>
  values['log-format'] === 'pretty' || (values['log-format'] === 'auto' && process.stderr.isTTY)

const readableWriter = (writer: LineWriter): LineWriter => ({
  ...writer,
  write: (line) => writer.write(readableLine(line)),
  writeSoon: (line) => writer.writeSoon(readableLine(line)),
})

function traceFields(): object {
  const span = activeSpan()
  if (span === undefined) return {}
  const { requestId, traceId, spanId } = span
  return { ...(requestId === undefined ? {} : { request_id: requestId }), trace_id: traceId, span_id: spanId }
}

/**
 * Writes access lines without pino, which would cost as much as a quick answer. Only the request id is text from a
 * client.
 */
const accessLog =
  (writer: LineWriter, { text }: Redactor): AccessLog =>
  ({ method, route, status, milliseconds, bytes, keyId, requestId, isClientId, span }) => {
    const id = isClientId ? JSON.stringify(text(requestId)) : `"${requestId}"`
    writer.writeSoon(
      `{"level":"info","time":"${isoTime(Date.now())}","service":"${SERVICE}","msg":"request",` +
        `"method":"${method}","route":"${route}","status":${status},"ms":${Math.round(milliseconds * 100) / 100},` +
        `"bytes":${bytes ?? null},"key_id":${keyId === null ? null : `"${keyId}"`},"request_id":${id},` +
        `"trace_id":"${span.traceId}","span_id":"${span.spanId}"}\n`,
    )
  }
