/** Bearer keys: reads the header, finds its API key, and checks its time, the caller's address and the key's scopes. */
import { hash } from 'node:crypto'
import type { KeyRefusal } from '../../src/api/api-keys.ts'
import { keyFault } from '../../src/operations/api-keys.ts'
import { rangeCheck } from '../../src/platform/address-ranges.ts'
import { ApiError, forbidden } from '../../src/platform/errors.ts'
import { findApiKeyByHash } from '../../src/store/requests/api-keys.ts'
import { wholeAddressOf } from '../client-address.ts'
import type { Kernel, KnownKey } from '../kernel.ts'
import type { RequestRecord } from './request-record.ts'

type Presenting = Pick<RequestRecord, 'keyId' | 'incoming'>

/**
 * Returns the accepted key of `Authorization: Bearer <key>` and sets its id in the record. Throws unauthorized,
 * forbidden, or rate_limited for a key that is known to be over its limits.
 */
export async function authenticate(
  kernel: Kernel,
  version: number | undefined,
  header: string | null,
  record: Presenting,
): Promise<KnownKey> {
  const token = header?.match(/^Bearer +(\S+)$/i)?.[1]
  if (token === undefined) throw new ApiError('unauthorized', 'Missing or invalid API key')
  const sha256 = hash('sha256', token, 'hex')
  kernel.limiter.refuseKnown(sha256, record)
  const key = await kernel.keys.read(version, sha256, () => findApiKeyByHash(kernel.store.db, sha256), sizeOfKey)
  requireAccepted(kernel, key, record)
  return key
}

/**
 * Throws forbidden unless the key is accepted now, from the address of this request. Sets its id in the record, and
 * notes its use.
 */
export function requireAccepted(kernel: Kernel, key: KnownKey | null, record: Presenting): asserts key is KnownKey {
  const now = kernel.clock.now()
  const fault = key === null ? 'revoked' : keyFault(key, now)
  if (key === null || fault === 'revoked') throw refused()
  record.keyId = key.id
  if (fault !== null) throw refused(fault)
  // A request without a connection comes from a command in this process.
  if (record.incoming === undefined) return
  const isDue = kernel.uses.isDue(key.id, now)
  if (key.allow_ips_json === null && !isDue) return
  const address = wholeAddressOf(record.incoming, kernel.config.values['trusted-proxies'])
  if (!isAllowed(key, address)) throw refused('address')
  if (isDue) kernel.uses.note(key.id, now, address ?? 'unknown')
}

/** Made once for a row; on SQLite rows stay in memory until the database changes. */
const checks = new WeakMap<KnownKey, (address: string) => boolean>()

function isAllowed(key: KnownKey, address: string | null): boolean {
  if (key.allow_ips_json === null || address === null) return key.allow_ips_json === null
  const check = checks.get(key) ?? rangeCheck(JSON.parse(key.allow_ips_json))
  checks.set(key, check)
  return check(address)
}

const refused = (reason?: KeyRefusal) =>
  forbidden('Invalid or revoked API key', reason === undefined ? {} : { details: { reason } })

/** Each entry counts as 1. Unknown keys are not remembered, because anyone can send any number of them. */
const sizeOfKey = (key: KnownKey | null) => (key === null ? Number.POSITIVE_INFINITY : 1)

/** Throws forbidden unless the scopes include the required one, or all. */
export function requireScope(scopes: readonly string[], required: string): void {
  if (scopes.includes('*') || scopes.includes(required)) return
  throw forbidden(`API key missing required scope(s): ${required}`)
}
