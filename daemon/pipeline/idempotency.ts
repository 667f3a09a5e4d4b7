/** Idempotency-Key: each key has one effect, and its sealed answer is stored with it and replayed byte for byte. */

import { randomBytes } from 'node:crypto'
import type { SigningLink } from '../../src/context.ts'
import { badRequest, conflict } from '../../src/errors.ts'
import * as records from '../../src/store/idempotency.ts'
import type { Tx } from '../../src/store/store.ts'
import { HOUR_MS } from '../../src/timing.ts'
import { isDeadOwner, type Kernel } from '../kernel.ts'

const LEASE_MS = 30_000

export interface ReplayedAnswer {
  kind: 'replay'
  status: number
  body: string
}
export interface KeyClaim {
  kind: 'claim'
  /** Links what the operation signs to this key, so that a retry finds it. */
  signing: SigningLink
  /** Stores the answer in the same transaction as the change that it reports. */
  finish(tx: Tx, status: number, body: string): Promise<void>
  /** Frees the key after a failure, unless something was signed. */
  free(): Promise<void>
  /** Stops renewing the lease. */
  end(): void
}

/** The header's value, undefined without one; throws bad_request unless it has 1 to 255 characters. */
export function readIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined
  if (header.length < 1 || header.length > 255) {
    throw badRequest('Idempotency-Key must be 1 to 255 characters', { param: 'Idempotency-Key' })
  }
  return header
}

/** Claims the key for this request, or returns the stored answer; throws conflict. */
export async function claimIdempotencyKey(
  kernel: Kernel,
  apiKeyId: string,
  key: string,
  requestHash: string,
): Promise<ReplayedAnswer | KeyClaim> {
  const { store, vault, clock, config } = kernel
  // The name is unique to this claim, so that a retry in the same process neither renews nor frees it.
  const owner = `${kernel.owner}/${randomBytes(6).toString('hex')}`
  const purpose = `idempotency:${apiKeyId}:${key}`
  const attempt = () =>
    store.write((tx) =>
      records.claimKey(tx, {
        apiKeyId,
        key,
        requestHash,
        owner,
        now: clock.now(),
        leaseMs: LEASE_MS,
        ttlMs: config.values['idempotency-hours'] * HOUR_MS,
      }),
    )
  let outcome = await attempt()
  if (outcome.kind === 'conflict' && outcome.reason === 'running') {
    const holder = await records.findIdempotencyKey(store.db, { apiKeyId, key })
    if (holder !== null && isDeadOwner(holder.owner)) {
      await store.write((tx) => records.releaseOwner(tx, holder.owner))
      outcome = await attempt()
    }
  }
  if (outcome.kind === 'conflict') throw outcome.reason === 'running' ? stillRunning() : usedByAnotherRequest()
  if (outcome.kind === 'replay') {
    return { kind: 'replay', status: outcome.status, body: vault.open(outcome.response, purpose).toString('utf8') }
  }
  const renewal = setInterval(() => {
    void store
      .write((tx) => records.renewLeases(tx, owner, clock.now() + LEASE_MS))
      .catch((error) => kernel.log.warn({ err: error }, 'idempotency lease was not renewed'))
  }, LEASE_MS / 3).unref()
  return {
    kind: 'claim',
    signing: {
      earlier: outcome.kind === 'resumed' ? outcome.signingId : null,
      async bind(tx, id) {
        const { kind } = await records.storeSigning(tx, { apiKeyId, key, owner, signingId: id })
        if (kind !== 'stored') throw stillRunning()
      },
      unbind: (tx) => records.clearSigning(tx, { apiKeyId, key, owner }),
    },
    async finish(tx, status, body) {
      const response = vault.seal(body, purpose)
      if (!(await records.finish(tx, { apiKeyId, key, owner, status, response }))) throw stillRunning()
    },
    async free() {
      await store.write((tx) => records.free(tx, { apiKeyId, key, owner }))
    },
    end: () => clearInterval(renewal),
  }
}

const stillRunning = () =>
  conflict('A request with this Idempotency-Key is still in progress', { param: 'Idempotency-Key' })
const usedByAnotherRequest = () =>
  conflict('This Idempotency-Key was used with another request', { param: 'Idempotency-Key' })
