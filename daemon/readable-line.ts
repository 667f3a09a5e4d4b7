/** Lays out a line of the log for a person at a terminal. */
import { printable } from '../src/platform/printable.ts'

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
