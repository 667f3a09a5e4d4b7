/** Writes the result of an attempt: its record, the next attempt, and the end of a subscription whose receiver never succeeds. */
import type { Services } from '../../context.ts'
import { newId } from '../../store/id.ts'
import { insertWebhookDelivery } from '../../store/webhook-deliveries.ts'
import { type Queued, resumeHeld, settleQueued } from '../../store/webhook-queue.ts'
import { lockWebhookSubscription, type SubscriptionRow, switchOff } from '../../store/webhook-subscriptions.ts'
import { deliveryOutcome, MOST_ATTEMPTS } from './outcome.ts'
import type { SendResult } from './send.ts'

type RecordServices = Pick<Services, 'store' | 'clock' | 'log'>

export async function recordAttempt(
  { store, clock, log }: RecordServices,
  { id, receiver_revision: revision }: Pick<SubscriptionRow, 'id' | 'receiver_revision'>,
  queued: Queued,
  startedAt: number,
  { status, error, duration_ms }: SendResult,
): Promise<void> {
  const attempts = queued.attempts + 1
  const succeeded = error === null
  const outcome = deliveryOutcome(attempts, startedAt, succeeded)
  const next = outcome.state === 'waiting' ? outcome.next_attempt_at : null
  await store.write(async (tx) => {
    // The subscription is locked before its queue, as in switching and deleting it, so that neither sees a partial
    // change.
    const row = outcome.state === 'held' ? await lockWebhookSubscription(tx, id) : null
    const settled = await settleQueued(tx, queued, {
      state: outcome.state,
      attempts,
      ...(next === null ? {} : { next_attempt_at: next }),
    })
    // A delivery that was replayed, or claimed by another process, is no longer decided by this attempt.
    if (!settled) return
    await insertWebhookDelivery(tx, {
      id: newId('whd'),
      subscription_id: id,
      event_id: queued.event_id,
      attempt: attempts,
      status: succeeded ? 'succeeded' : 'failed',
      response_code: status,
      duration_ms,
      error,
      next_attempt_at: next,
      created_at: startedAt,
    })
    if (outcome.state !== 'held') return
    const reason = `the event ${queued.event_id} failed ${MOST_ATTEMPTS} times, the last with: ${error}`
    if (await switchOff(tx, id, { reason, now: clock.now(), revision })) {
      log.warn({ subscription: id, event: queued.event_id }, 'a webhook subscription was switched off')
      return
    }
    // The subscription was switched on, or given another URL, during this attempt, so the event starts anew.
    if (row?.active === 1) await resumeHeld(tx, id, clock.now())
  })
}

/** Returns the delivery to the queue, and switches off the subscription, whose secret cannot be read. */
export async function switchOffUnreadable(
  { store, clock }: RecordServices,
  { id, secret }: Pick<SubscriptionRow, 'id' | 'secret'>,
  queued: Queued,
): Promise<void> {
  const reason = 'its secret cannot be read with this encryption key: rotate the secret'
  await store.write(async (tx) => {
    const row = await lockWebhookSubscription(tx, id)
    await settleQueued(tx, queued, {})
    // The secret may have been rotated meanwhile.
    if (row === null || !row.secret.equals(secret)) return
    await switchOff(tx, id, { reason, now: clock.now(), revision: row.receiver_revision })
  })
}
