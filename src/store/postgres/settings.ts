/** Settings of the PostgreSQL connection, in the form that the store takes. */
import { internal } from '../../platform/errors.ts'
import { parseUrl } from '../../platform/urls.ts'
import { SETTINGS, type Values } from '../../settings/config.ts'
import type { TlsSettings } from './tls.ts'

/** Times are in milliseconds. */
export interface PostgresSettings {
  poolSize: number
  poolTimeoutMs: number
  connectMs: number
  lockMs: number
  statementMs: number
  transactionMs: number
  idleTransactionMs: number
  tls: TlsSettings
}

/** Takes the values from the configuration; a missing one gets its default. */
export function postgresSettings(values: Partial<Values> = {}): PostgresSettings {
  const read = <N extends keyof Numbers>(name: N): number => values[name] ?? SETTINGS[name].default
  return {
    poolSize: read('postgres.pool-size'),
    poolTimeoutMs: read('postgres.pool-timeout-ms'),
    connectMs: read('postgres.connect-timeout-ms'),
    lockMs: read('postgres.lock-timeout-ms'),
    statementMs: read('postgres.statement-timeout-ms'),
    transactionMs: read('postgres.transaction-timeout-ms'),
    idleTransactionMs: read('postgres.idle-transaction-timeout-ms'),
    tls: {
      sslmode: values['postgres.sslmode'],
      sslrootcert: values['postgres.sslrootcert'],
      sslcert: values['postgres.sslcert'],
      sslkey: values['postgres.sslkey'],
    },
  }
}

type Numbers = {
  [N in keyof Values as N extends `postgres.${string}` ? (Values[N] extends number ? N : never) : never]: Values[N]
}

/**
 * Throws internal_error, without credentials, if the text is not a URL or has an unescaped character that ends the
 * password.
 */
export function requirePostgresUrl(url: string): void {
  if (/^[^@]*:\/\/[^@]*[#/?][^@]*@/.test(url))
    throw internal(
      'the database URL has one of # / ? in its user or password: write them percent-encoded (%23 %2F %3F, and %40 for @)',
    )
  if (parseUrl(url) === undefined)
    throw internal('the database URL is not a URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE')
}
