/** Idempotency-Key: each key has one effect, and its sealed answer is stored with it and replayed byte for byte. */

import type { SigningLink } from '../../src/context.ts'
import { badRequest, conflict } from '../../src/platform/errors.ts'
import { inSpan } from '../../src/platform/telemetry/spans.ts'
import { HOUR_MS } from '../../src/platform/timing.ts'
import { pooledBytes } from '../../src/store/id.ts'
import * as records from '../../src/store/requests/idempotency.ts'
import type { Reader, Tx } from '../../src/store/store.ts'
import type { Kernel } from '../kernel.ts'
import { isDeadOwner } from '../owners.ts'

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
  /**
   * Stores the answer in the same transaction as the change that it reports. Throws if the key is already taken.
   */
  finish(tx: Tx, status: number, body: string): Promise<void>
  /**
   * The stored answer, if the request was answered before; throws conflict if the key was used for another request.
   * Undefined for a key that was claimed before the operation.
   */
  storedAnswer(reader: Reader): Promise<ReplayedAnswer | undefined>
  /** Frees the key after a failure, unless something was signed. */
  free(): Promise<void>
  /** Ends the process's part of the claim: the renewal of its lease. */
  end(): void
}
type ClaimOutcome = ReplayedAnswer | KeyClaim

/** The header's value, undefined without one; throws bad_request unless it has 1 to 255 characters. */
export function readIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined
  if (header.length < 1 || header.length > 255) {
    throw badRequest('Idempotency-Key must be 1 to 255 characters', { param: 'Idempotency-Key' })
  }
  return header
}

/** What is claimed: one Idempotency-Key of an API key, for one request. */
interface Claimed {
  apiKeyId: string
  key: string
  requestHash: string
}

/**
 * Claims the key for this request, or returns the stored answer; throws conflict. The key of an `atomic` request is
 * claimed in its commit; until then only this process knows that it is in use. If two daemons get the same request at
 * once, the first to commit answers it, and the other repeats that answer.
 */
export async function claimIdempotencyKey(kernel: Kernel, claimed: Claimed, atomic = false): Promise<ClaimOutcome> {
  const { apiKeyId, key, requestHash } = claimed
  const running = runningIn(kernel)
  const name = `${apiKeyId} ${key}`
  const earlier = running.get(name)
  if (earlier === requestHash) throw stillRunning()
  if (earlier !== undefined) {
    // An earlier answer belongs to its request, also while another request runs under the same key.
    const answered = await storedAnswer(kernel, claimed, kernel.store.db)
    if (answered === undefined) throw usedByAnotherRequest()
    return answered
  }
  if (!atomic) return claimNow(kernel, claimed)
  running.set(name, requestHash)
  return claimInCommit(kernel, claimed, () => void running.delete(name))
}

/** The atomic requests that this process is running: API key and Idempotency-Key with the hash of the request. */
const requestsOf = new WeakMap<Kernel, Map<string, string>>()

function runningIn(kernel: Kernel): Map<string, string> {
  const known = requestsOf.get(kernel) ?? new Map<string, string>()
  requestsOf.set(kernel, known)
  return known
}

/**
 * A claim that is stored with its answer in the commit, so nothing is renewed or freed. If the process dies before it,
 * the database has no trace of the key, and a retry claims it anew.
 */
function claimInCommit(kernel: Kernel, claimed: Claimed, end: () => void): KeyClaim {
  const { apiKeyId, key } = claimed
  const owner = `${kernel.owner}/commit`
  return {
    kind: 'claim',
    signing: { earlier: null, bind: signsNothing, unbind: signsNothing },
    async finish(tx, status, body) {
      const request = claimRequest(kernel, claimed, owner)
      const response = kernel.vault.seal(body, purposeOf(claimed))
      const inserted = await records.insertAnswered(tx, request, { status, response })
      if (inserted === 0) await answerTaken(tx, request, { apiKeyId, key, owner, status, response })
    },
    storedAnswer: (reader) => storedAnswer(kernel, claimed, reader),
    free: async () => {},
    end,
  }
}

/** The answer that is stored under the key, undefined without one; throws conflict if it is another request's. */
async function storedAnswer(kernel: Kernel, claimed: Claimed, reader: Reader): Promise<ReplayedAnswer | undefined> {
  const stored = await records.findIdempotencyKey(reader, claimed)
  if (stored?.state !== 'done' || stored.expires_at <= kernel.clock.now()) return undefined
  if (!records.isOfRequest(stored, claimed)) throw usedByAnotherRequest()
  const { status, response } = stored
  return status === null || response === null ? undefined : replayOf(kernel, claimed, { status, response })
}

/** Stores the answer under a key that already exists, if the key may be taken over. */
async function answerTaken(
  tx: Tx,
  request: records.ClaimRequest,
  answer: Parameters<typeof records.finish>[1],
): Promise<void> {
  const outcome = await claimOrTakeOver(tx, request)
  if (outcome.kind === 'conflict') throw conflictOf(outcome.reason)
  if (outcome.kind === 'replay') throw new Error('another daemon has answered this request')
  await storeAnswer(tx, answer)
}

/** Claims the key; takes it over from a process of this machine that has ended. */
async function claimOrTakeOver(tx: Tx, request: records.ClaimRequest): Promise<records.StoredClaim> {
  const outcome = await records.claimKey(tx, request)
  if (outcome.kind !== 'conflict' || outcome.reason !== 'running') return outcome
  const holder = await records.findIdempotencyKey(tx, request)
  if (holder === null || !isDeadOwner(holder.owner)) return outcome
  await records.releaseOwner(tx, holder.owner)
  return records.claimKey(tx, request)
}

async function signsNothing(): Promise<never> {
  throw new Error('an operation whose route is atomic signs nothing')
}

/** A claim that is stored before the operation runs, and renewed until it ends. */
async function claimNow(kernel: Kernel, claimed: Claimed): Promise<ClaimOutcome> {
  const { store } = kernel
  const { apiKeyId, key } = claimed
  // The name is unique to this claim, so a retry in the same process neither renews nor frees it.
  const owner = `${kernel.owner}/${pooledBytes(6).toString('hex')}`
  const outcome = await store.write((tx) => claimOrTakeOver(tx, claimRequest(kernel, claimed, owner)))
  if (outcome.kind === 'conflict') throw conflictOf(outcome.reason)
  if (outcome.kind === 'replay') return replayOf(kernel, claimed, outcome)
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
    finish: (tx, status, body) =>
      storeAnswer(tx, { apiKeyId, key, owner, status, response: kernel.vault.seal(body, purposeOf(claimed)) }),
    // The key belongs to this request until its lease ends.
    storedAnswer: async () => undefined,
    async free() {
      await store.write((tx) => records.free(tx, { apiKeyId, key, owner }))
    },
    end: renewed(kernel, owner),
  }
}

const claimRequest = (
  { clock, config }: Kernel,
  { apiKeyId, key, requestHash }: Claimed,
  owner: string,
): records.ClaimRequest => ({
  apiKeyId,
  key,
  requestHash,
  owner,
  now: clock.now(),
  leaseMs: LEASE_MS,
  ttlMs: config.values['idempotency-hours'] * HOUR_MS,
})

const purposeOf = ({ apiKeyId, key }: Claimed) => `idempotency:${apiKeyId}:${key}`

async function storeAnswer(tx: Tx, answer: Parameters<typeof records.finish>[1]): Promise<void> {
  if (!(await records.finish(tx, answer))) throw stillRunning()
}

const replayOf = (
  { vault }: Kernel,
  claimed: Claimed,
  { status, response }: { status: number; response: Buffer },
): ReplayedAnswer => ({ kind: 'replay', status, body: vault.open(response, purposeOf(claimed)).toString('utf8') })

/** Owners whose leases this process renews with one timer, which stops when there are none. */
const renewedOf = new WeakMap<Kernel, Set<string>>()

function renewed(kernel: Kernel, owner: string): () => void {
  const owners = renewedOf.get(kernel) ?? startRenewing(kernel)
  owners.add(owner)
  return () => void owners.delete(owner)
}

function startRenewing(kernel: Kernel): Set<string> {
  const { store, clock, log } = kernel
  const owners = new Set<string>()
  renewedOf.set(kernel, owners)
  const timer = setInterval(() => {
    if (owners.size === 0) {
      clearInterval(timer)
      renewedOf.delete(kernel)
      return
    }
    // It has its own trace, because the request that started the timer may have been answered long ago.
    void inSpan({ name: 'idempotency renew-leases', isRoot: true }, () =>
      store
        .write((tx) => records.renewLeases(tx, [...owners], clock.now() + LEASE_MS))
        .catch((error) => log.warn({ err: error }, 'idempotency leases were not renewed')),
    )
  }, LEASE_MS / 3).unref()
  return owners
}

const conflictOf = (reason: 'mismatch' | 'running') => (reason === 'running' ? stillRunning() : usedByAnotherRequest())
const stillRunning = () =>
  conflict('A request with this Idempotency-Key is still in progress', { param: 'Idempotency-Key' })
const usedByAnotherRequest = () =>
  conflict('This Idempotency-Key was used with another request', { param: 'Idempotency-Key' })
