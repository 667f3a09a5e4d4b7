/** The daemon's log on standard error: JSON lines, each with its request and trace, or lines for a person. */
import type { Writable } from 'node:stream'
import pino from 'pino'
import { ApiError } from '../src/platform/errors.ts'
import type { Log } from '../src/platform/log.ts'
import { printable } from '../src/platform/printable.ts'
import { activeSpan } from '../src/platform/telemetry/spans.ts'
import { isoTime } from '../src/platform/timing.ts'
import type { Config } from '../src/settings/config.ts'
import { type Redactor, redactorOf } from '../src/settings/redaction.ts'
import type { AccessLog } from './pipeline/request-record.ts'

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

/** What a line begins with, or what only a program needs. */
const NOT_SHOWN = new Set(['level', 'time', 'service', 'msg', 'err', 'trace_id', 'span_id'])
const LEVEL_WIDTH = 5
const STACK_LINES = 12

/** A JSON line as `TIME LEVEL message field=value …`, with the stack of its error below it. */
export function readableLine(json: string): string {
  const { level, time, msg, err, ...rest } = JSON.parse(json) as Record<string, unknown>
  const { method, route, status, ms, bytes, key_id, ...others } = rest
  const isRequest = msg === 'request' && route !== undefined
  const text = isRequest ? `${method} ${route}: ${status} in ${ms} ms` : msg
  const fields = Object.entries(isRequest ? others : rest).filter(([name]) => !NOT_SHOWN.has(name))
  const beside = fields.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const start = `${clockTime(String(time))} ${String(level).toUpperCase().padEnd(LEVEL_WIDTH)}`
  const lines = [[start, text, ...beside].join(' '), ...errorLines(err)]
  return `${lines.map(printable).join('\n')}\n`
}

/** The local time of day. */
const clockTime = (time: string) => new Date(time).toTimeString().slice(0, 8)

function errorLines(error: unknown): string[] {
  if (error === undefined) return []
  if (typeof error !== 'object' || error === null) return [`  ${error}`]
  const { message, stack } = error as { message?: string; stack?: string }
  return (stack || message || '')
    .split('\n')
    .slice(0, STACK_LINES)
    .map((line) => `  ${line}`)
}

// Writes log lines to standard error; a reader that is slow, stuck or gone never stops the daemon.

/** The most characters that wait for a slow reader; further lines are dropped and counted. */
const MOST_WAITING_CHARACTERS = 1_048_576
/** Access lines are written together, because one write costs as much as the answer to a quick request. */
const WRITE_EVERY_MS = 50

interface LineWriter {
  /** Writes the buffered lines and this one immediately. */
  write(line: string): void
  /** Writes the line within 50 ms, together with others. */
  writeSoon(line: string): void
  /** Writes what is buffered. */
  flush(): void
  /** Number of lines dropped so far. */
  dropped(): number
}

/**
 * Writes to a stream, by default standard error. pino's own destination writes on a thread; a full pipe blocks this
 * thread, and with it the end of the process. The stream of a pipe never blocks.
 */
export function createLineWriter(stream: Writable = process.stderr): LineWriter {
  let buffered = ''
  let lines = 0
  let droppedLines = 0
  let timer: NodeJS.Timeout | undefined
  // The terminal or the reader of the log is gone, or the disk is full. The daemon continues.
  stream.on('error', () => {})

  function add(line: string): void {
    if (stream.writableLength + buffered.length + line.length > MOST_WAITING_CHARACTERS) {
      droppedLines++
      return
    }
    buffered += line
    lines++
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (lines === 0) return
    const written = lines
    stream.write(buffered, (error) => {
      if (error) droppedLines += written
    })
    buffered = ''
    lines = 0
  }

  return {
    write(line) {
      add(line)
      flush()
    },
    writeSoon(line) {
      add(line)
      timer ??= setTimeout(flush, WRITE_EVERY_MS).unref()
    },
    flush,
    dropped: () => droppedLines,
  }
}
