/** Interface of the log; the daemon implements it with pino, and commands discard their messages. */

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const discard = () => {}
export const silentLog: Log = { debug: discard, info: discard, warn: discard, error: discard }
