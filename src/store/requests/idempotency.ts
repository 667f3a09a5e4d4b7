/** Idempotency keys: which process runs a request, the stored response, and the signing that the request started. */
import type { ExpressionBuilder } from 'kysely'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { CLOCK_SLACK_MS } from '../writing/future-moments.ts'

interface KeyOf {
  apiKeyId: string
  key: string
}

export interface ClaimRequest extends KeyOf {
  requestHash: string
  /** Unique id of the claiming process. */
  owner: string
  /** Current time in Unix milliseconds. */
  now: number
  /** Milliseconds after which an owner that has not renewed is considered dead. */
  leaseMs: number
  /** Milliseconds for which the key is stored. */
  ttlMs: number
}

export type StoredClaim =
  | { kind: 'claimed' }
  | { kind: 'conflict'; reason: 'mismatch' | 'running' }
  /** The stored response of the finished request; `response` is sealed. */
  | { kind: 'replay'; status: number; response: Buffer }
  /**
   * The key was taken over from an attempt that ended without a response; `signingId` is the signing that the attempt
   * stored.
   */
  | { kind: 'resumed'; signingId: string | null }

export const isOfRequest = (
  { request_hash }: Pick<Row<'idempotency_keys'>, 'request_hash'>,
  { requestHash }: Pick<ClaimRequest, 'requestHash'>,
): boolean => request_hash === requestHash

/** Claims a key for one request; of any number of concurrent claims exactly one is `claimed` or `resumed`. */
export async function claimKey(tx: Tx, request: ClaimRequest): Promise<StoredClaim> {
  if ((await insert(tx, request, UNANSWERED)) > 0) return { kind: 'claimed' }
  const row = await lockKey.first(tx, request)
  // The key was released between the insert and the lock, so the claim is retried.
  if (!row) return claimKey(tx, request)
  const { now } = request
  // A lease beyond the possible maximum came from a clock that was ahead, so it is ignored.
  const running =
    row.state === 'running' && row.lease_until > now && row.lease_until <= now + request.leaseMs + CLOCK_SLACK_MS
  if (row.expires_at <= now && !running) {
    await deleteKey.run(tx, request)
    return claimKey(tx, request)
  }
  if (!isOfRequest(row, request)) return { kind: 'conflict', reason: 'mismatch' }
  if (row.state === 'done') {
    const { status, response } = row
    if (status === null || response === null) throw new Error('a stored answer has lost its status or its bytes')
    return { kind: 'replay', status, response }
  }
  if (running) return { kind: 'conflict', reason: 'running' }
  const { apiKeyId, key, owner } = request
  await takeOver.run(tx, { apiKeyId, key, owner, leaseUntil: now + request.leaseMs })
  return { kind: 'resumed', signingId: row.signing_id }
}

/**
 * Stores the sealed response in the transaction of the change that it reports. Returns false when another process has
 * taken over the key; then the change must not be committed.
 */
export async function finish(
  tx: Tx,
  { owner, status, response, ...key }: KeyOf & { owner: string; status: number; response: Buffer },
): Promise<boolean> {
  return (await finishKey.run(tx, { ...key, owner, status, response })) > 0
}

/**
 * Releases the key after a failure. A key without a signing is deleted; a key with a signing is kept, so that the next
 * attempt resumes it. Does nothing if another process has taken over the key.
 */
export async function free(tx: Tx, { owner, ...key }: KeyOf & { owner: string }): Promise<void> {
  if ((await deleteUnsigned.run(tx, { ...key, owner })) === 0) await endLease.run(tx, { ...key, owner })
}

type StoreSigningOutcome = { kind: 'stored' } | { kind: 'earlier'; signingId: string } | { kind: 'lost' }

/**
 * Stores the signing of this key's request before anything is signed. `earlier` means that another signing is stored
 * and must be completed instead. `lost` means that the key has another owner, so nothing may be signed.
 */
export async function storeSigning(
  tx: Tx,
  { owner, signingId, ...key }: KeyOf & { owner: string; signingId: string },
): Promise<StoreSigningOutcome> {
  if ((await linkSigning.run(tx, { ...key, owner, signingId })) > 0) return { kind: 'stored' }
  const row = await findIdempotencyKey(tx, key)
  if (row?.state !== 'running' || row.owner !== owner || row.signing_id === null) return { kind: 'lost' }
  return row.signing_id === signingId ? { kind: 'stored' } : { kind: 'earlier', signingId: row.signing_id }
}

/** Removes a stored signing if nothing was signed; false if the key no longer belongs to this owner. */
export async function clearSigning(tx: Tx, { owner, ...key }: KeyOf & { owner: string }): Promise<boolean> {
  return (await unlinkSigning.run(tx, { ...key, owner })) > 0
}

/** Extends the leases of all requests that these owners run; returns the number of keys. */
export async function renewLeases(tx: Tx, owners: readonly string[], leaseUntil: number): Promise<number> {
  // All requests may have been answered while this write was queued.
  if (owners.length === 0) return 0
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set({ lease_until: leaseUntil })
    .where('owner', 'in', owners)
    .where('state', '=', 'running')
    .where('lease_until', '>', 0)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Ends the leases of a process that is known to be dead, so that retries resume immediately. */
export async function releaseOwner(tx: Tx, owner: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set({ lease_until: 0 })
    .where('owner', '=', owner)
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/**
 * Deletes up to `limit` expired keys, oldest first, except those of running requests; returns the number of deleted
 * keys.
 */
export async function pruneIdempotencyKeys(tx: Tx, now: number, limit: number): Promise<number> {
  const over = (is: ExpressionBuilder<Tables, 'idempotency_keys'>) =>
    is.and([is('expires_at', '<=', now), is.or([is('state', '=', 'done'), is('lease_until', '<=', now)])])
  const oldest = tx.selectFrom('idempotency_keys').select(['api_key_id', 'key']).where(over)
  const { numDeletedRows } = await tx
    .deleteFrom('idempotency_keys')
    // The condition is repeated because a key may have been claimed again since the subquery read it.
    .where(over)
    .where((is) =>
      is(
        is.refTuple('api_key_id', 'key'),
        'in',
        oldest.orderBy('expires_at').limit(limit).$asTuple('api_key_id', 'key'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

export async function findIdempotencyKey(reader: Reader, key: KeyOf): Promise<Row<'idempotency_keys'> | null> {
  return (await findKey.first(reader, key)) ?? null
}

/** Inserts the key unless it exists; returns the number of inserted rows. */
function insert(tx: Tx, request: ClaimRequest, { state, status, response }: KeyAnswer): Promise<number> {
  const { apiKeyId, key, requestHash, owner, now, leaseMs, ttlMs } = request
  const leaseUntil = now + leaseMs
  const expiresAt = now + ttlMs
  return insertKey.run(tx, { apiKeyId, key, requestHash, owner, leaseUntil, state, status, response, now, expiresAt })
}

type KeyAnswer = Pick<Row<'idempotency_keys'>, 'state' | 'status' | 'response'>
const UNANSWERED: KeyAnswer = { state: 'running', status: null, response: null }

/** Claims a key and stores its answer in one statement; returns 0 if the key exists. */
export const insertAnswered = (
  tx: Tx,
  request: ClaimRequest,
  { status, response }: { status: number; response: Buffer },
): Promise<number> => insert(tx, request, { state: 'done', status, response })

interface Narrowable {
  where(
    column: 'api_key_id' | 'key' | 'owner' | 'state',
    operator: '=',
    value: string | Placeholders<{ text: string }>['text'],
  ): this
}

function whereKey<Q extends Narrowable>(query: Q, { apiKeyId, key }: Placeholders<KeyOf>): Q {
  return query.where('api_key_id', '=', apiKeyId).where('key', '=', key)
}

function whereOwned<Q extends Narrowable>(query: Q, key: Placeholders<OwnedKey>): Q {
  return whereKey(query, key).where('owner', '=', key.owner).where('state', '=', 'running')
}

type OwnedKey = KeyOf & { owner: string }

const insertKey = prepared(
  (
    db,
    values: Placeholders<
      OwnedKey & KeyAnswer & { requestHash: string; leaseUntil: number; now: number; expiresAt: number }
    >,
  ) =>
    db
      .insertInto('idempotency_keys')
      .values({
        api_key_id: values.apiKeyId,
        key: values.key,
        request_hash: values.requestHash,
        state: values.state,
        owner: values.owner,
        lease_until: values.leaseUntil,
        signing_id: null,
        status: values.status,
        response: values.response,
        created_at: values.now,
        expires_at: values.expiresAt,
      })
      .onConflict((conflict) => conflict.columns(['api_key_id', 'key']).doNothing()),
)
const findKey = prepared((db, key: Placeholders<KeyOf>) => whereKey(db.selectFrom('idempotency_keys').selectAll(), key))
/**
 * Returns the row and locks it until the commit, with an update that changes nothing, which works on both databases.
 */
const lockKey = prepared((db, key: Placeholders<KeyOf>) =>
  whereKey(db.updateTable('idempotency_keys').set({ key: key.key }), key).returningAll(),
)
const deleteKey = prepared((db, key: Placeholders<KeyOf>) => whereKey(db.deleteFrom('idempotency_keys'), key))
const takeOver = prepared((db, key: Placeholders<OwnedKey & { leaseUntil: number }>) =>
  whereKey(db.updateTable('idempotency_keys').set({ owner: key.owner, lease_until: key.leaseUntil }), key),
)
const finishKey = prepared((db, key: Placeholders<OwnedKey & { status: number; response: Buffer }>) =>
  whereOwned(
    db.updateTable('idempotency_keys').set({ state: 'done', status: key.status, response: key.response }),
    key,
  ),
)
const deleteUnsigned = prepared((db, key: Placeholders<OwnedKey>) =>
  whereOwned(db.deleteFrom('idempotency_keys').where('signing_id', 'is', null), key),
)
const endLease = prepared((db, key: Placeholders<OwnedKey>) =>
  whereOwned(db.updateTable('idempotency_keys').set({ lease_until: 0 }), key),
)
const linkSigning = prepared((db, key: Placeholders<OwnedKey & { signingId: string }>) =>
  whereOwned(db.updateTable('idempotency_keys').set({ signing_id: key.signingId }), key).where(
    'signing_id',
    'is',
    null,
  ),
)
const unlinkSigning = prepared((db, key: Placeholders<OwnedKey>) =>
  whereOwned(db.updateTable('idempotency_keys').set({ signing_id: null }), key),
)
