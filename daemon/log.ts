/** The daemon's log: pino's JSON lines on standard error. */
import pino from 'pino'
import type { Config } from '../src/config.ts'
import type { Log } from '../src/log.ts'
import { type Redactor, redactorOf } from '../src/redaction.ts'

/** An error with its causes and stack, and without the credentials that a message from below may carry. */
export function loggedError(error: unknown, { text }: Redactor): object | string {
  if (!(error instanceof Error)) return text(String(error))
  const { type, message, stack, code } = pino.stdSerializers.err(error) as ReturnType<
    typeof pino.stdSerializers.err
  > & { code?: unknown }
  return { type, message: text(message ?? ''), stack: text(stack ?? ''), ...(code === undefined ? {} : { code }) }
}

export function createLog(config: Config): Log {
  const redactor = redactorOf(config)
  const destination = pino.destination({ dest: 2, sync: true })
  // Where the terminal is closed nobody reads the log any more, and SIGHUP stops the daemon in order.
  destination.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EIO') throw error
  })
  return pino(
    {
      level: config.values['log-level'],
      base: { service: 'svc' },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error) => loggedError(error, redactor) },
      redact: ['*.key', '*.secret', '*.authorization', 'headers.authorization'],
    },
    // The whole line, so that no field of it is forgotten.
    { write: (line: string) => void destination.write(redactor.json(line)) },
  )
}
