/**
 * Signings of the platform's key: the policy that limits them, their spending, and each message before it is signed.
 */
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export async function findPolicy(reader: Reader, signer: string): Promise<Row<'signer_policies'> | null> {
  const row = await reader.selectFrom('signer_policies').selectAll().where('signer', '=', signer).executeTakeFirst()
  return row ?? null
}

/**
 * Returns the policy, created from `first` if missing, and locks it until the commit, so that spending of one key is
 * counted serially.
 */
export async function lockPolicy(tx: Tx, first: NewRow<'signer_policies'>): Promise<Row<'signer_policies'>> {
  await tx
    .insertInto('signer_policies')
    .values(first)
    .onConflict((conflict) => conflict.column('signer').doNothing())
    .execute()
  return tx
    .updateTable('signer_policies')
    .set({ signer: first.signer })
    .where('signer', '=', first.signer)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updatePolicy(
  tx: Tx,
  signer: string,
  changes: Partial<Omit<NewRow<'signer_policies'>, 'signer'>>,
): Promise<void> {
  await tx.updateTable('signer_policies').set(changes).where('signer', '=', signer).execute()
}

export function listSignerPolicies(reader: Reader): Promise<Row<'signer_policies'>[]> {
  return reader.selectFrom('signer_policies').selectAll().execute()
}

/** Returns the spends of all keys after a time in Unix milliseconds. */
export function listSpendsSince(reader: Reader, since: number): Promise<Row<'signer_spends'>[]> {
  return reader.selectFrom('signer_spends').selectAll().where('at', '>', since).execute()
}

/**
 * Returns the key's spends after the time `since` and after the spend `mark`, in raw units by mint; the empty key means
 * lamports.
 */
export async function sumSpends(
  reader: Reader,
  signer: string,
  { since, mark }: { since: number; mark: number },
): Promise<Map<string, bigint>> {
  const rows = await reader
    .selectFrom('signer_spends')
    .select(['mint', 'amount'])
    .where('signer', '=', signer)
    .where('at', '>', since)
    .where('seq', '>', mark)
    .execute()
  const sums = new Map<string, bigint>()
  for (const { mint, amount } of rows) sums.set(mint, (sums.get(mint) ?? 0n) + BigInt(amount))
  return sums
}

/** Returns the `seq` of the key's last spend; 0 before the first. */
export async function lastSpend(reader: Reader, signer: string): Promise<number> {
  const spends = reader.selectFrom('signer_spends').select('seq').where('signer', '=', signer)
  return (await spends.orderBy('seq', 'desc').limit(1).executeTakeFirst())?.seq ?? 0
}

/** Stores amounts in raw units; amounts of zero are skipped. */
export async function insertSpends(
  tx: Tx,
  { signing_id, signer, at }: Pick<Row<'signer_spends'>, 'signing_id' | 'signer' | 'at'>,
  amounts: ReadonlyMap<string, bigint>,
): Promise<void> {
  const rows = [...amounts]
    .filter(([, amount]) => amount > 0n)
    .map(([mint, amount]) => ({ signing_id, signer, at, mint, amount: String(amount) }))
  if (rows.length > 0) await tx.insertInto('signer_spends').values(rows).execute()
}

export async function insertSigning(tx: Tx, row: NewRow<'signings'>): Promise<void> {
  await tx.insertInto('signings').values(row).execute()
}

export async function findSigning(reader: Reader, id: string): Promise<Row<'signings'> | null> {
  return (await reader.selectFrom('signings').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
}

/** Returns signings of an operation that were reserved after `since`, in Unix milliseconds, and have not ended. */
export function intendedSignings(
  reader: Reader,
  operation: string,
  since: number,
): Promise<Pick<Row<'signings'>, 'id' | 'genesis' | 'transaction'>[]> {
  return reader
    .selectFrom('signings')
    .select(['id', 'genesis', 'transaction'])
    .where('created_at', '>', since)
    .where('operation', '=', operation)
    .where('state', '=', 'intended')
    .execute()
}

/** Whether this message is already signed, or about to be signed, for another request. */
export async function isMessageKnown(reader: Reader, messageSha256: string): Promise<boolean> {
  const same = reader.selectFrom('signings').select('seq').where('message_sha256', '=', messageSha256)
  return (await same.where('state', '!=', 'abandoned').executeTakeFirst()) !== undefined
}

/** A signing with the message that its process has reserved. */
type ReservedMessage = Pick<Row<'signings'>, 'id' | 'message_sha256'>

/**
 * Completes an intended signing with its signature; false if it has already ended, or another process has reserved it
 * with another message.
 */
export async function markSigned(tx: Tx, reserved: ReservedMessage, signature: string): Promise<boolean> {
  return endSigning(tx, reserved, { state: 'signed', signature })
}

/**
 * Ends an intended signing if the provider certainly created no signature, and releases its spends; false if it has
 * already ended, or another process has reserved it with another message.
 */
export async function abandonSigning(tx: Tx, reserved: ReservedMessage): Promise<boolean> {
  const ended = await endSigning(tx, reserved, { state: 'abandoned' })
  if (ended) await tx.deleteFrom('signer_spends').where('signing_id', '=', reserved.id).execute()
  return ended
}

async function endSigning(
  tx: Tx,
  { id, message_sha256 }: ReservedMessage,
  changes: Partial<Row<'signings'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('signings')
    .set(changes)
    .where('id', '=', id)
    .where('message_sha256', '=', message_sha256)
    .where('state', '=', 'intended')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Reserves a signing that was approved, with the message that is signed now; false if another process has done so or
 * the signing has ended. `from` is the hash of the message that it had.
 */
export async function reserveApproved(
  tx: Tx,
  id: string,
  from: string,
  changes: Pick<Row<'signings'>, 'transaction' | 'message_sha256' | 'since_slot'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('signings')
    .set({ ...changes, state: 'intended' })
    .where('id', '=', id)
    .where('message_sha256', '=', from)
    .where('state', 'in', ['waiting', 'intended'])
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Ends a signing that waits, and deletes its plan, which has generated keys; false if it no longer waits. */
export async function endWaiting(tx: Tx, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('signings')
    .set({ state: 'abandoned', plan: null })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Deletes the plan of a request when no further step needs it. */
export async function clearPlan(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('signings').set({ plan: null }).where('id', '=', id).execute()
}

/**
 * Ends an intended signing whose blockhash has expired, and frees its id for another one. A signature may exist, so its
 * spends stay. Returns false if the signing has already ended.
 */
export async function supersedeSigning(tx: Tx, id: string): Promise<boolean> {
  const row = await findSigning(tx, id)
  if (row?.state !== 'intended') return false
  await tx
    .updateTable('signings')
    .set({ id: `${id}#${row.seq}`, state: 'abandoned' })
    .where('id', '=', id)
    .execute()
  return true
}

/** Deletes up to `limit` ended signings made before `before`, the oldest first; returns their number. */
export async function pruneSignings(tx: Tx, before: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('signings')
    .select(['seq', 'id'])
    .where('created_at', '<', before)
    // What is only intended may have been signed, and is kept until its request has ended it.
    .where('state', 'not in', ['intended', 'waiting'])
    .orderBy('created_at')
    .limit(limit)
    .execute()
  if (old.length === 0) return 0
  const ids = old.map(({ id }) => id)
  await tx.deleteFrom('signer_spends').where('signing_id', 'in', ids).where('at', '<', before).execute()
  const seqs = old.map(({ seq }) => seq)
  await tx.deleteFrom('signings').where('seq', 'in', seqs).execute()
  return old.length
}
