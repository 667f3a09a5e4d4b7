/** The daemon's log: pino's JSON lines on standard error. */
import pino from 'pino'
import type { Config } from '../src/config.ts'
import type { Log } from '../src/log.ts'

export function createLog(config: Config): Log {
  return pino(
    {
      level: config.values['log-level'],
      base: { service: 'svc' },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['*.key', '*.secret', '*.authorization', 'headers.authorization'],
    },
    pino.destination({ dest: 2, sync: true }),
  )
}
