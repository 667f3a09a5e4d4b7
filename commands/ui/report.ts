/**
 * Reports a failure: the API's error envelope with `-o json`, otherwise a line with its field, its request id and what
 * to do.
 */
import type { ApiFailure } from '../../src/client.ts'
import { ApiError, type ErrorCode, GENERIC_MESSAGE } from '../../src/platform/errors.ts'
import { FileFault } from '../../src/platform/files.ts'
import { NativeModuleFault } from '../../src/platform/native-modules.ts'
import { Cancelled, EXIT, EXIT_BY_CODE, Problem } from './problem.ts'
import { type Format, jsonText, multiline, printable } from './render.ts'
import { brokenAtWords } from './words.ts'

export interface Report {
  text: string
  exitCode: number
}

const NEXT_BY_CODE: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'give the bearer key with --api-key-file FILE or SVC_API_KEY',
  forbidden: '`svc keys list` shows the scopes of each key; `svc keys create --scopes …` makes another',
  rate_limited: 'wait, or make a key with higher limits: svc keys create --per-minute N',
}

interface ReportOptions {
  format: Format
  /** Whether to add the stack of the error. */
  debug: boolean
  red: (text: string) => string
  /** The columns of the terminal; Infinity for another output. */
  columns: number
  /** Removes credentials from a message. */
  redact: (text: string) => string
  /** The notes before the failure; a document has them in `meta.notes`. */
  notes?: readonly string[]
}

/** The text for stderr and the exit code of a failure. */
export function report(error: unknown, { format, debug, red, columns, redact, notes = [] }: ReportOptions): Report {
  if (error instanceof Cancelled) return { text: format === 'json' ? '' : 'Cancelled.\n', exitCode: EXIT.cancelled }
  const apiError =
    error instanceof FileFault || error instanceof NativeModuleFault
      ? ownProblem(error)
      : error instanceof ApiError
        ? error
        : unexpectedProblem(error)
  const { code } = apiError
  // Another server's code may be any text, so only own properties count.
  const exitCode = Object.hasOwn(EXIT_BY_CODE, code) ? EXIT_BY_CODE[code] : EXIT.failed
  const trace = debug && error instanceof Error ? multiline(redact(`${error.stack ?? ''}\n${causes(error)}`)) : ''
  const envelope = (apiError as Partial<ApiFailure>).envelope
  // A document has no separate line for what to do next, so it has the whole message.
  const documented = error instanceof NativeModuleFault ? error : apiError
  if (format === 'json') {
    const { error: told, meta } = envelope ?? localEnvelope(documented)
    const noted = notes.length > 0 ? { notes } : {}
    const stack = trace === '' ? {} : { stack: trace.trimEnd().split('\n') }
    return {
      text: `${jsonText(redactedValue({ error: told, meta: { ...meta, ...noted, ...stack } }, redact))}\n`,
      exitCode,
    }
  }

  const problem = apiError instanceof Problem ? apiError : undefined
  const lines = problem?.lines?.length
    ? problem.lines.map((line) => multiline(redact(line)))
    : [`error: ${multiline(redact(`${apiError.message}${paramSuffix(apiError)}`))}`]
  const requestId = envelope?.meta.request_id
  const next = problem?.next ?? (envelope ? nextOf(apiError) : undefined)
  const more = [
    ...(requestId ? [`request id: ${requestId}`] : []),
    // Messages say SOL; the details have the exact lamports.
    ...(debug && apiError.details ? [`details: ${JSON.stringify(apiError.details)}`] : []),
    ...(next ? [`next: ${next}`] : []),
  ]
  const whole = [...lines, ...more.map((line) => `  ${printable(redact(line))}`)]
  const broken = whole.flatMap((line) => brokenAtWords(line, columns)).join('\n')
  return {
    text: `${trace}${broken.replace(/^error:/, red('error:'))}\n`,
    exitCode,
  }
}

/** What to do about a failure that the API reported. */
function nextOf({ code, message }: ApiError): string | undefined {
  if (code === 'internal_error' && message === GENERIC_MESSAGE)
    return "see the daemon's log for the cause, under this request id"
  return Object.hasOwn(NEXT_BY_CODE, code) ? NEXT_BY_CODE[code] : undefined
}

/** A copy of the value with every text in it redacted. */
const redactedValue = (value: unknown, redact: (text: string) => string): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? redact(inner) : inner)))

function paramSuffix({ param, message }: ApiError): string {
  return param === undefined || message.includes(param) ? '' : ` (${param})`
}

/** A local failure in the shape of the API's envelope; no request was made, so there is no request id. */
function localEnvelope({ code, message, param, details }: ApiError) {
  return {
    error: { code, message, ...(param && { param }), ...(details && { details }) },
    meta: { request_id: 'local' },
  }
}

/**
 * The problem of a file or of this installation: a file that others could have written is forbidden (exit 4), any
 * other is a failure.
 */
function ownProblem(error: FileFault | NativeModuleFault): Problem {
  const { problem, next, cause } = error
  const exposed = error instanceof FileFault && error.kind === 'exposed'
  return new Problem(exposed ? 'forbidden' : 'internal_error', problem, { next, cause })
}

/** What to do about a refusal of the system, by its code: the user can change that, and the program is not at fault. */
const SYSTEM_FAULTS: Record<string, string> = {
  EACCES: 'give this user access to it, or name another place (HOME, SVC_DATA_DIR, --data-dir)',
  EPERM: 'give this user access to it, or name another place (HOME, SVC_DATA_DIR, --data-dir)',
  EROFS: 'it is on a read-only file system: name another place (HOME, SVC_DATA_DIR, --data-dir)',
  ENOSPC: 'the disk is full: free some space, then run it again',
  EDQUOT: "this user's disk quota is used up: free some space, then run it again",
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
}

function unexpectedProblem(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error)
  const { code = '' } = (error ?? {}) as { code?: string }
  const remedy = Object.hasOwn(SYSTEM_FAULTS, code) ? SYSTEM_FAULTS[code] : undefined
  if (remedy !== undefined)
    return new Problem('internal_error', message.split('\n')[0] ?? code, { next: remedy, cause: error })
  return new Problem('internal_error', message.split('\n')[0] || 'an unexpected failure', {
    next: 'this error was not expected: run it again with --debug, and report the output in the issue tracker of this project',
    cause: error,
  })
}

function causes(error: Error): string {
  return error.cause instanceof Error ? `caused by ${error.cause.stack}\n${causes(error.cause)}` : ''
}
