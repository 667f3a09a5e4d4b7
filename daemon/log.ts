/** The daemon's log: pino's JSON lines on standard error. */
import pino from 'pino'
import type { Config } from '../src/config.ts'
import type { Log } from '../src/log.ts'
import { type Redactor, redactorOf } from '../src/redaction.ts'

/** The fields of an error, with its causes and stack and without credentials that its message may contain. */
export function loggedError(error: unknown, { text }: Redactor): object | string {
  if (!(error instanceof Error)) return text(String(error))
  const { type, message, stack, code } = pino.stdSerializers.err(error) as ReturnType<
    typeof pino.stdSerializers.err
  > & { code?: unknown }
  return { type, message: text(message ?? ''), stack: text(stack ?? ''), ...(code === undefined ? {} : { code }) }
}

/** The log of the daemon, whose level can be changed. */
export interface DaemonLog extends Log {
  level: string
  isLevelEnabled(level: string): boolean
}

export function createLog(config: Config): DaemonLog {
  const redactor = redactorOf(config)
  const destination = pino.destination({ dest: 2, sync: true })
  // A closed terminal makes writes fail with EIO. Nobody reads the log then, and SIGHUP shuts a daemon with a terminal down.
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
    // The redactor runs over the whole line, so that it covers every field.
    { write: (line: string) => void destination.write(redactor.json(line)) },
  )
}
