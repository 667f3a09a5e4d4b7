/** Translates errors of PostgreSQL and its driver into errors of the API, and decides which of them may be retried. */
import { type ApiError, internal } from '../../platform/errors.ts'
import { databaseBusy, duplicateKey } from '../writing/work.ts'
import { tlsRemedy } from './tls.ts'

const DUPLICATE = '23505'
/** Serialization failure, deadlock and duplicate key: a retry sees the other transaction's commit. */
const TRY_AGAIN = new Set(['40001', '40P01', DUPLICATE])
/** Timeouts of the session for locks, statements and transactions. */
const TIMED_OUT: Readonly<Record<string, string>> = {
  '55P03': 'another process holds a lock on it',
  '57014': 'a statement took too long',
  '25P04': 'a transaction took too long',
}
/** The server ended the session and rolled back its transaction, after an idle transaction or during a shutdown. */
const PAUSED = '25P03'
const ENDED = new Set([PAUSED, '57P01', '57P02', '57P03'])
/** The server refuses the user or its password, for example one that was changed after the start. */
const REFUSED = new Set(['28P01', '28000'])
/** The server has no connection left for this role or at all. */
const TOO_MANY = '53300'

/** SQLSTATE of a server error; an empty text for any other error. */
export function sqlState(error: unknown): string {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && severity !== undefined ? code : ''
}

/**
 * Whether a failed transaction may be run again. An interrupted commit may have succeeded, so it is repeated only if
 * the server or the driver says that it was not made.
 */
export function mayRepeat(error: unknown, isCommitting: boolean): boolean {
  const code = sqlState(error)
  const isUndone = !isCommitting || code === PAUSED || isUnsent(error)
  return TRY_AGAIN.has(code) || (isLost(error, code) && isUndone)
}

/** Whether the session is lost, according to the server or the driver. */
function isLost(error: unknown, code: string): boolean {
  if (code !== '') return ENDED.has(code)
  if (!(error instanceof Error)) return false
  return isUnsent(error) || /^Connection terminated|ECONNRESET|EPIPE/.test(error.message)
}

/** Whether the driver knew that the session had ended before it sent anything. */
const isUnsent = (error: unknown) => error instanceof Error && / is not queryable$/.test(error.message)

/** The database was not reached, so nothing was sent. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    /^Connection terminated due to connection timeout|^timeout (?:expired|exceeded when trying to connect)/.test(
      error.message,
    ) ||
    /^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|TIMEDOUT|NOTFOUND|AI_AGAIN)$/.test(
      String((error as NodeJS.ErrnoException).code),
    )
  )
}

/**
 * Translates the error of a statement or a transaction into an error of the API; unknown ones are returned unchanged.
 */
export function postgresError(error: unknown): unknown {
  const code = sqlState(error)
  if (code === DUPLICATE) return duplicateKey(error)
  if (TRY_AGAIN.has(code)) return databaseBusy(error)
  if (code === TOO_MANY) return databaseBusy(error, 'the server has no connection left')
  const timedOut = TIMED_OUT[code]
  if (timedOut !== undefined) return databaseBusy(error, timedOut)
  if (REFUSED.has(code))
    return internal('the database refuses its user or password: check SVC_DATABASE_URL', {
      cause: error,
      retryAfter: 1,
    })
  if (isUnreachable(error))
    return internal('the database cannot be reached: try again', { cause: error, retryAfter: 1 })
  if (isLost(error, code)) {
    return internal('the connection to the database was lost: try again', { cause: error, retryAfter: 1 })
  }
  return error
}

/** Whether the server may only not be up yet: it cannot be reached, has no socket, or says that it is starting. */
export function mayComeUp(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(mayComeUp)
  const { code } = (error ?? {}) as { code?: unknown }
  return isUnreachable(error) || code === '57P03' || code === 'ENOENT' || code === 'ECONNRESET'
}

/** Returns the error without the URL and its passwords, which the driver's own message may contain. */
export function openingError(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || (error as Partial<ApiError>).code === 'internal_error') return error
  const { password, searchParams } = new URL(url)
  let message =
    error instanceof AggregateError ? error.errors.map((one: Error) => one.message).join(', ') : error.message
  const secrets = [url, password, safelyDecoded(password), ...searchParams.getAll('password')]
  for (const secret of secrets.filter((text) => text !== '')) message = message.replaceAll(secret, '***')
  return internal(`cannot open the PostgreSQL database: ${message}; ${tlsRemedy(error) ?? 'check SVC_DATABASE_URL'}`)
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
