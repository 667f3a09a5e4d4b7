/** Tells of a failure: the API's error envelope with `-o json`, otherwise a line with its field, its request and the way out. */
import type { ApiFailure } from '../../src/client.ts'
import { ApiError, type ErrorCode } from '../../src/errors.ts'
import { FileFault } from '../../src/files.ts'
import { Cancelled, EXIT, EXIT_BY_CODE, Problem } from './problem.ts'
import { type Format, jsonText, multiline, printable } from './render.ts'

export interface Report {
  text: string
  exitCode: number
}

const NEXT_BY_CODE: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'give the bearer key with --api-key-file FILE or SVC_API_KEY',
  forbidden: '`svc keys list` shows the scopes of each key; `svc keys create --scopes …` makes another',
  rate_limited: 'wait, or make a key with higher limits: svc keys create --per-minute N',
}

/** What `NODE_ENV=production` makes of an internal error. */
const GENERIC_MESSAGE = 'Something went wrong'

export interface ReportOptions {
  format: Format
  /** Adds the stack of the error. */
  debug: boolean
  red: (text: string) => string
  /** Takes credentials out of a message. */
  redact: (text: string) => string
}

/** Text for stderr and the exit code. */
export function report(error: unknown, { format, debug, red, redact }: ReportOptions): Report {
  if (error instanceof Cancelled) return { text: format === 'json' ? '' : 'Cancelled.\n', exitCode: EXIT.cancelled }
  const known =
    error instanceof FileFault ? fileProblem(error) : error instanceof ApiError ? error : unexpectedProblem(error)
  const { code } = known
  // Another server's code may be any text.
  const exitCode = Object.hasOwn(EXIT_BY_CODE, code) ? EXIT_BY_CODE[code] : EXIT.failed
  const trace = debug && error instanceof Error ? multiline(redact(`${error.stack ?? ''}\n${causes(error)}`)) : ''
  const envelope = (known as Partial<ApiFailure>).envelope
  if (format === 'json')
    return { text: `${trace}${jsonText(redactedValue(envelope ?? localEnvelope(known), redact))}\n`, exitCode }

  const problem = known instanceof Problem ? known : undefined
  const lines = problem?.lines?.length
    ? problem.lines.map((line) => multiline(redact(line)))
    : [`${red('error:')} ${multiline(redact(`${known.message}${paramSuffix(known)}`))}`]
  const requestId = envelope?.meta.request_id
  const next = problem?.next ?? (envelope ? nextOf(known) : undefined)
  const more = [...(requestId ? [`request id: ${requestId}`] : []), ...(next ? [`next: ${next}`] : [])]
  return {
    text: `${trace}${[...lines, ...more.map((line) => `  ${printable(redact(line))}`)].join('\n')}\n`,
    exitCode,
  }
}

/** The way out of a failure that the API answered. */
function nextOf({ code, message }: ApiError): string | undefined {
  if (code === 'internal_error' && message === GENERIC_MESSAGE)
    return "the daemon's log has the cause under this request id"
  return Object.hasOwn(NEXT_BY_CODE, code) ? NEXT_BY_CODE[code] : undefined
}

/** The same value with every text in it redacted. */
const redactedValue = (value: unknown, redact: (text: string) => string): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? redact(inner) : inner)))

function paramSuffix({ param, message }: ApiError): string {
  return param === undefined || message.includes(param) ? '' : ` (${param})`
}

/** A local failure in the envelope's shape; no request was made, so there is no id. */
function localEnvelope({ code, message, param, details }: ApiError) {
  return {
    error: { code, message, ...(param && { param }), ...(details && { details }) },
    meta: { request_id: 'local' },
  }
}

/** What others may have written is not allowed (exit 4); a file that cannot be read is a failure. */
function fileProblem({ kind, said, next, cause }: FileFault): Problem {
  return new Problem(kind === 'exposed' ? 'forbidden' : 'internal_error', said, { next, cause })
}

function unexpectedProblem(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error)
  return new Problem('internal_error', message.split('\n')[0] || 'an unexpected failure', {
    next: 'this was not foreseen: run it again with --debug and report what it prints in the issue tracker of this project',
    cause: error,
  })
}

function causes(error: Error): string {
  return error.cause instanceof Error ? `caused by ${error.cause.stack}\n${causes(error.cause)}` : ''
}
