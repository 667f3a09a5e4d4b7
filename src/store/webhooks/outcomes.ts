/** Outcome of claimed events in the delivery queue: delivered, retried, held or given back. */
import type { RawBuilder } from 'kysely'
import type { Placeholders } from '../queries/prepared.ts'
import { preparedForList } from '../queries/prepared-lists.ts'
import type { Row } from '../schema.ts'
import type { Tx } from '../store.ts'
import type { Queued } from './queue.ts'

/** A queued event that this process has claimed. */
export type Claim = Pick<Queued, 'seq' | 'claimed_until'>

/** Takes claimed events out of the queue; returns the numbers of those that this process still had claimed. */
export const deleteQueued = (tx: Tx, claims: readonly Claim[]): Promise<Set<number>> =>
  withClaims(claims, async (seqs, until) => (await deleteClaimed(tx, seqs, { until })).map(({ seq }) => seq))

const deleteClaimed = preparedForList(
  (db, seqs: readonly RawBuilder<number>[], { until }: Placeholders<{ until: number }>) =>
    db.deleteFrom('webhook_queue').where('seq', 'in', seqs).where('claimed_until', '=', until).returning('seq'),
)

/** Gives back events whose delivery has not started. */
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

/** Events claimed together have the same time, so many events need few statements. */
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

/** The next attempt of an event, or that the last one has failed. */
type FailedAttempt = Pick<Row<'webhook_queue'>, 'state' | 'attempts'> &
  Partial<Pick<Row<'webhook_queue'>, 'next_attempt_at'>>

/** Records a failed attempt and gives the event back. Returns false if this process no longer has it claimed. */
export async function recordFailure(tx: Tx, { seq, claimed_until }: Claim, failed: FailedAttempt): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_queue')
    .set({ ...failed, claimed_until: 0 })
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
