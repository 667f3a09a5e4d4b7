/** What becomes of claimed events in the delivery queue: delivered, tried again, held or given back. */
import type { RawBuilder } from 'kysely'
import type { Placeholders } from '../queries/prepared.ts'
import { preparedForList } from '../queries/prepared-lists.ts'
import type { Row } from '../schema.ts'
import type { Tx } from '../store.ts'
import type { Queued } from './queue.ts'

/** A queued event as this process has claimed it. */
export type Claim = Pick<Queued, 'seq' | 'claimed_until'>

/** Deletes delivered events; returns the numbers of those that were still claimed by this process. */
export const deleteDelivered = (tx: Tx, claims: readonly Claim[]): Promise<Set<number>> =>
  withClaims(claims, async (seqs, until) => (await deleteClaimed(tx, seqs, { until })).map(({ seq }) => seq))

const deleteClaimed = preparedForList(
  (db, seqs: readonly RawBuilder<number>[], { until }: Placeholders<{ until: number }>) =>
    db.deleteFrom('webhook_queue').where('seq', 'in', seqs).where('claimed_until', '=', until).returning('seq'),
)

/** Gives events back whose delivery was not begun. */
export async function releaseClaims(tx: Tx, claims: readonly Claim[]): Promise<void> {
  await withClaims(claims, async (seqs, until) => (await releaseClaimed(tx, seqs, { until })).map(({ seq }) => seq))
}

const releaseClaimed = preparedForList(
  (db, seqs: readonly RawBuilder<number>[], { until }: Placeholders<{ until: number }>) =>
    db
      .updateTable('webhook_queue')
      .set({ claimed_until: 0 })
      .where('seq', 'in', seqs)
      .where('claimed_until', '=', until)
      .returning('seq'),
)

/** Events that were claimed together have the same time, so few statements are enough for many. */
async function withClaims(
  claims: readonly Claim[],
  act: (seqs: readonly number[], until: number) => Promise<readonly number[]>,
): Promise<Set<number>> {
  const byTime = new Map<number, number[]>()
  for (const { seq, claimed_until } of claims) {
    const seqs = byTime.get(claimed_until)
    if (seqs === undefined) byTime.set(claimed_until, [seq])
    else seqs.push(seq)
  }
  const acted = new Set<number>()
  for (const [until, seqs] of byTime) for (const seq of await act(seqs, until)) acted.add(seq)
  return acted
}

/**
 * Records the outcome of an attempt and deletes delivered events. Returns false when the row is no longer claimed by
 * this process.
 */
export async function settleQueued(
  tx: Tx,
  { seq, claimed_until }: Pick<Queued, 'seq' | 'claimed_until'>,
  {
    state,
    ...changes
  }: Partial<Pick<Row<'webhook_queue'>, 'attempts' | 'next_attempt_at'>> & {
    state?: Row<'webhook_queue'>['state'] | 'delivered'
  },
): Promise<boolean> {
  if (state === 'delivered') {
    const deleted = tx.deleteFrom('webhook_queue').where('seq', '=', seq).where('claimed_until', '=', claimed_until)
    return (await deleted.executeTakeFirstOrThrow()).numDeletedRows > 0n
  }
  const { numUpdatedRows } = await tx
    .updateTable('webhook_queue')
    .set({ ...changes, ...(state === undefined ? {} : { state }), claimed_until: 0 })
    .where('seq', '=', seq)
    .where('claimed_until', '=', claimed_until)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Makes held events due immediately and restarts their attempts. */
export async function resumeHeld(tx: Tx, subscriptionId: string, now: number): Promise<void> {
  await tx
    .updateTable('webhook_queue')
    .set({ state: 'waiting', attempts: 0, next_attempt_at: now })
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'held')
    .execute()
}
