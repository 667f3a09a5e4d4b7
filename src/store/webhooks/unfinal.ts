/** Deliveries that wait until their event is final, and what the database knows about the finality of transactions. */
import { sql } from 'kysely'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

/** SQLite uses the partial index only for a literal, so the value is not bound. */
const UNFINAL = sql.lit('unfinal' as const)
/** Name of the counter with the highest slot that a node has reported as final. */
const FINALIZED_SLOT = 'finalized_slot'

export type UnfinalDelivery = Pick<Row<'webhook_queue'>, 'seq' | 'subscription_id' | 'resource' | 'sequence'> &
  Pick<Row<'webhook_subscriptions'>, 'commitment'>

/** Returns deliveries after a sequence that wait for the finality of their events, in the order of the events. */
export const unfinalDeliveries = (reader: Reader, after: number, limit: number): Promise<UnfinalDelivery[]> =>
  reader
    .selectFrom('webhook_queue as q')
    .innerJoin('webhook_subscriptions as s', 's.id', 'q.subscription_id')
    .select(['q.seq', 'q.subscription_id', 'q.resource', 'q.sequence', 's.commitment'])
    .where('q.state', '=', UNFINAL)
    .where('q.sequence', '>', after)
    .orderBy('q.sequence')
    .limit(limit)
    .execute()

/** Returns the number of the delivery that was queued last; 0 if none is queued. */
export async function lastQueued(reader: Reader): Promise<number> {
  const last = reader.selectFrom('webhook_queue').select('seq').orderBy('seq', 'desc').limit(1)
  return (await last.executeTakeFirst())?.seq ?? 0
}

/** Whether any delivery waits for the finality of its event. */
export async function isAnyUnfinal(reader: Reader): Promise<boolean> {
  const waiting = reader.selectFrom('webhook_queue').select('seq').where('state', '=', UNFINAL)
  return (await waiting.limit(1).executeTakeFirst()) !== undefined
}

/** Returns events by their sequences, in no particular order. */
export function eventsAt(
  reader: Reader,
  sequences: readonly number[],
): Promise<
  Pick<Row<'events'>, 'sequence' | 'type' | 'resource_type' | 'resource_id' | 'object_json' | 'created_at'>[]
> {
  return reader
    .selectFrom('events')
    .select(['sequence', 'type', 'resource_type', 'resource_id', 'object_json', 'created_at'])
    .where('sequence', 'in', sequences)
    .execute()
}

/** Final outcome of a followed transaction: executed or failed for good, gone, or undecided. */
export type TransactionEnd = 'executed' | 'failed' | 'gone' | 'open'

/** Returns the outcomes of those transactions that were submitted here or found on chain. */
export async function transactionEnds(
  reader: Reader,
  signatures: readonly string[],
): Promise<ReadonlyMap<string, TransactionEnd>> {
  const ends = new Map<string, TransactionEnd>()
  if (signatures.length === 0) return ends
  const found = reader.selectFrom('chain_transactions').select(['signature', 'state'])
  for (const { signature, state } of await found.where('signature', 'in', signatures).execute()) {
    ends.set(signature, state === 'finalized' ? 'executed' : state === 'dropped' ? 'gone' : 'open')
  }
  const followed = reader.selectFrom('transactions').select(['signature', 'lifecycle', 'next_check_at'])
  for (const { signature, lifecycle, next_check_at } of await followed.where('signature', 'in', signatures).execute()) {
    const end = lifecycle === 'failed' ? 'failed' : 'executed'
    ends.set(signature, next_check_at === null ? end : 'open')
  }
  return ends
}

/** Releases deliveries for sending. */
export async function releaseUnfinal(tx: Tx, seqs: readonly number[], now: number): Promise<void> {
  if (seqs.length === 0) return
  await tx
    .updateTable('webhook_queue')
    .set({ state: 'waiting', next_attempt_at: now })
    .where('seq', 'in', seqs)
    .where('state', '=', 'unfinal')
    .execute()
}

/** Removes deliveries of events that did not happen on the final chain. */
export async function removeUnfinal(tx: Tx, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return
  await tx.deleteFrom('webhook_queue').where('seq', 'in', seqs).where('state', '=', 'unfinal').execute()
}

/** Returns the highest slot that a node has reported as final; 0 before the first. */
export async function finalizedSlot(reader: Reader): Promise<number> {
  const counter = reader.selectFrom('counters').select('value').where('name', '=', FINALIZED_SLOT)
  return (await counter.executeTakeFirst())?.value ?? 0
}

export async function storeFinalizedSlot(tx: Tx, slot: number): Promise<void> {
  await tx
    .insertInto('counters')
    .values({ name: FINALIZED_SLOT, value: slot })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: slot }))
    .execute()
}
