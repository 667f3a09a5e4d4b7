/** Explains in one sentence why a request to the bucket failed, with the setting to check and without any secret. */
import { type ApiError, internal, Overloaded } from '../platform/errors.ts'
import { ShuttingDown, TimeoutError } from '../platform/timing.ts'
import type { BucketPlace } from './s3-settings.ts'

/** Seconds after which a client may try again after a temporary failure of the bucket's server. */
const RETRY_SECONDS = 5

export interface BucketAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** Returns the error code in the body of an answer, or an empty text if it is not an answer of S3. */
export const errorCodeOf = ({ body }: BucketAnswer): string =>
  /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(body.toString('latin1'))?.[1] ?? ''

/** Whether the same request may succeed a moment later. */
export const isPassing = (answer: BucketAnswer): boolean =>
  answer.status === 429 ||
  (answer.status >= 500 && answer.status !== 501) ||
  (answer.status === 400 && errorCodeOf(answer) === 'RequestTimeout')

/** The meaning of each error code, as the end of a sentence after "The bucket … at …". */
const BUCKET_CODES: Record<string, string> = {
  NoSuchBucket: 'does not exist: create it, or correct s3.bucket',
  InvalidBucketName: 'has a name that the server does not accept: correct s3.bucket',
  InvalidAccessKeyId: 'is at a server that does not know the key of s3.access-key-id: check that setting',
  SignatureDoesNotMatch: 'did not accept the signature: s3.secret-access-key is not the secret of s3.access-key-id',
  AuthorizationHeaderMalformed: 'is in another region: correct s3.region',
  PermanentRedirect: 'is in another region or on another server: correct s3.region and s3.endpoint',
  TemporaryRedirect: 'is in another region or on another server: correct s3.region and s3.endpoint',
  IllegalLocationConstraintException: 'is in another region: correct s3.region',
  ExpiredToken: 'did not accept the session token, which has expired: renew s3.session-token and its key',
  InvalidToken: 'did not accept the session token: check s3.session-token and its key',
  EntityTooLarge: 'does not accept an object of this size: lower image-max-bytes',
  QuotaExceeded: 'is full: raise its quota',
  XMinioStorageFull: 'is at a server without room: add disks there',
  InsufficientCapacity: 'is at a server without room: add disks there',
}

/** Returns the error for an unusable answer. `right` is the permission that the request needs. */
export function answerFault({ label, region }: BucketPlace, answer: BucketAnswer, right: string): ApiError {
  const { status, headers } = answer
  const code = errorCodeOf(answer)
  const told = `${status}${code === '' ? '' : ` ${code}`}`
  const say = (what: string) => internal(`The storage request failed: ${label} ${what} (answered ${told})`)
  if (code === 'RequestTimeTooSkewed') return say(`refuses requests of this clock, ${skewText(headers.date)}`)
  const known = Object.hasOwn(BUCKET_CODES, code) ? BUCKET_CODES[code] : undefined
  if (known !== undefined) return say(known)
  if (isPassing(answer)) {
    return internal(`The storage is temporarily unavailable: ${label} answered ${told}; nothing is lost, try again`, {
      retryAfter: RETRY_SECONDS,
    })
  }
  const elsewhere = headers['x-amz-bucket-region']
  if (status >= 300 && status < 400) {
    const where = typeof elsewhere === 'string' && /^[a-z0-9-]{1,64}$/.test(elsewhere) ? ` (${elsewhere})` : ''
    return say(
      `redirects to another place${where}, and redirects are not followed: correct s3.region (${region}) and s3.endpoint`,
    )
  }
  if (status === 401 || status === 403) {
    return say(
      `does not allow the key of s3.access-key-id to use ${right}: docs/storage.md lists what its policy must allow`,
    )
  }
  return say('is not at s3.endpoint, or its server lacks a part of S3: check s3.endpoint and s3.addressing-style')
}

/** Returns the error for a request that was not sent, because too many others wait or it has waited too long. */
export const queueFault = ({ label }: BucketPlace): Overloaded =>
  new Overloaded(`The storage is busy: too many requests wait for ${label}; try again`, RETRY_SECONDS)

function skewText(date: unknown): string {
  const minutes = Math.round((Date.now() - Date.parse(String(date))) / 60_000)
  if (Number.isNaN(minutes) || minutes === 0) return 'which differs from its own: set this clock (NTP)'
  return `which is ${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'} its own: set this clock (NTP)`
}

const CONNECTION_FAILURES: Record<string, string> = {
  ECONNREFUSED: 'refuses connections: is the server running? check s3.endpoint',
  ENOTFOUND: 'has a host name that does not resolve: check s3.endpoint and s3.addressing-style',
  EAI_AGAIN: 'has a host name that does not resolve now: check s3.endpoint and the name server',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached: check s3.endpoint and the network between',
  EHOSTUNREACH: 'cannot be reached: check s3.endpoint and the network between',
  ENETUNREACH: 'cannot be reached: check s3.endpoint and the network between',
  ETIMEDOUT: 'cannot be reached: check s3.endpoint and the network between',
}
const CERTIFICATE = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/**
 * Returns the error for a request without a complete answer. Network messages are left out, because they may quote
 * headers.
 */
export function unansweredFault({ label, timeoutMs }: BucketPlace, error: unknown): ApiError {
  const say = (what: string) =>
    internal(`The storage is temporarily unavailable: ${label} ${what}`, { retryAfter: RETRY_SECONDS })
  if (error instanceof TimeoutError) {
    return say(`gave no complete answer within ${timeoutMs / 1000} s: try again, or raise s3.timeout-ms`)
  }
  if (error instanceof ShuttingDown) return say('had not answered yet: the service is shutting down')
  const codes = errorCodes(error)
  const certificate = codes.find((code) => CERTIFICATE.test(code))
  if (certificate !== undefined) {
    return say('has a certificate that is not accepted: check s3.endpoint, or set NODE_EXTRA_CA_CERTS to its CA')
  }
  const known = codes.map((code) => (Object.hasOwn(CONNECTION_FAILURES, code) ? CONNECTION_FAILURES[code] : undefined))
  return say(
    known.find((text) => text !== undefined) ?? 'closed the connection before its answer was complete: try again',
  )
}

/** A host with several addresses has one failure per address. */
function errorCodes(error: unknown): string[] {
  const { code, errors, cause } = error as { code?: unknown; errors?: unknown; cause?: unknown }
  const nested = [...(Array.isArray(errors) ? errors : []), ...(cause === undefined ? [] : [cause])]
  return [...nested.flatMap(errorCodes), ...(typeof code === 'string' ? [code] : [])]
}
