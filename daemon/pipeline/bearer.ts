/** Bearer keys: reads the header, finds its API key and checks the key's scopes. */
import { hash } from 'node:crypto'
import { ApiError, forbidden } from '../../src/platform/errors.ts'
import { findApiKeyByHash } from '../../src/store/requests/api-keys.ts'
import type { Kernel, KnownKey } from '../kernel.ts'

/**
 * Returns the active key of `Authorization: Bearer <key>` and sets its id in the record. Throws unauthorized,
 * forbidden, or rate_limited for a key that is known to be over its limits.
 */
export async function authenticate(
  kernel: Kernel,
  version: number | undefined,
  header: string | null,
  record: { keyId: string | null },
): Promise<KnownKey> {
  const token = header?.match(/^Bearer +(\S+)$/i)?.[1]
  if (token === undefined) throw new ApiError('unauthorized', 'Missing or invalid API key')
  const sha256 = hash('sha256', token, 'hex')
  kernel.limiter.refuseKnown(sha256, record)
  const key = await kernel.keys.read(version, sha256, () => findApiKeyByHash(kernel.store.db, sha256), sizeOfKey)
  requireActive(key)
  record.keyId = key.id
  return key
}

/** Throws forbidden unless the key is known and active. */
export function requireActive(key: KnownKey | null): asserts key is KnownKey {
  if (key?.status !== 'active') throw forbidden('Invalid or revoked API key')
}

/** Each entry counts as 1. Unknown keys are not remembered, because anyone can send any number of them. */
const sizeOfKey = (key: KnownKey | null) => (key === null ? Number.POSITIVE_INFINITY : 1)

/** Throws forbidden unless the scopes include the required one, or all. */
export function requireScope(scopes: readonly string[], required: string): void {
  if (scopes.includes('*') || scopes.includes(required)) return
  throw forbidden(`API key missing required scope(s): ${required}`)
}
