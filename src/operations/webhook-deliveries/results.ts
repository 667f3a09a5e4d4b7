/** Writes the results of attempts: their records, the next attempts, and the switching off of a subscription whose receiver keeps failing. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import { ApiError } from '../../platform/errors.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import { newTimedId } from '../../store/id.ts'
import type { Tx } from '../../store/store.ts'
import { insertWebhookDeliveries, type NewWebhookDelivery } from '../../store/webhooks/deliveries.ts'
import {
  deleteQueued,
  LONGEST_RETRY_MS,
  type Queued,
  recordFailure,
  releaseClaims,
  resumeHeld,
} from '../../store/webhooks/queue.ts'
import { lockWebhookSubscription, type SubscriptionRow, switchOff } from '../../store/webhooks/subscriptions.ts'
import type { SendResult } from './send.ts'

/** Delays in milliseconds from the start of the first attempt, the second and so on to the next one. */
const RETRY_DELAYS_MS: readonly number[] = [
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  LONGEST_RETRY_MS,
]
/** Most attempts for an event. */
const MOST_ATTEMPTS = RETRY_DELAYS_MS.length + 1

/**
 * While the database is busy, a write is retried for this long, so that the receiver does not get the event twice. An
 * attempt starts only if its claim outlasts it by more than this; afterwards another process may make it.
 */
export const RECORD_FOR_MS = 4_000

const WRITE_AGAIN_MS = 100

/** Repeats the write while the database is busy, at most until `until`, in milliseconds of the monotonic clock. */
export async function writeUnlessBusy<T>(until: number, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      const isBusy = error instanceof ApiError && error.retryAfter !== undefined
      if (!isBusy || performance.now() >= until) throw error
      await delay(WRITE_AGAIN_MS)
    }
  }
}

type RecordServices = Pick<Services, 'store' | 'clock' | 'log'>

/** An attempt that has ended, with its result. */
export interface EndedAttempt {
  subscription: Pick<SubscriptionRow, 'id' | 'receiver_revision'>
  queued: Queued
  startedAt: number
  result: SendResult
}

/** Results of attempts that ended together are written in one transaction. */
export class AttemptResults {
  readonly #services: RecordServices
  #ended: EndedAttempt[] = []
  #writing: Promise<number> | undefined

  constructor(services: RecordServices) {
    this.#services = services
  }

  /** Results that are not written yet. */
  get size(): number {
    return this.#ended.length
  }

  add(ended: EndedAttempt): void {
    this.#ended.push(ended)
  }

  /** Writes all results after the current write. Returns their number, and never rejects. */
  async flush(): Promise<number> {
    await this.#writing
    if (this.size === 0) return 0
    this.#writing = this.#write(this.#ended.splice(0))
    return this.#writing
  }

  async #write(ended: readonly EndedAttempt[]): Promise<number> {
    const until = performance.now() + RECORD_FOR_MS
    const record = (some: readonly EndedAttempt[]) => writeUnlessBusy(until, () => recordAttempts(this.#services, some))
    try {
      await record(ended)
    } catch {
      // A result that cannot be written must not block the others.
      await Promise.all(
        ended.map((one) =>
          record([one]).catch((error) =>
            this.#services.log.error(
              { err: error, event: one.queued.event_id },
              'the result of a delivery could not be written',
            ),
          ),
        ),
      )
    }
    return ended.length
  }
}

type DeliveryOutcome = { state: 'delivered' } | { state: 'waiting'; next_attempt_at: number } | { state: 'held' }

function outcomeOf({ queued, startedAt, result }: EndedAttempt): DeliveryOutcome {
  if (result.error === null) return { state: 'delivered' }
  const delay = RETRY_DELAYS_MS[queued.attempts]
  return delay === undefined ? { state: 'held' } : { state: 'waiting', next_attempt_at: startedAt + delay }
}

/** Writes the results of many attempts in one transaction, except those that switch off their subscription. */
async function recordAttempts(services: RecordServices, ended: readonly EndedAttempt[]): Promise<void> {
  const decided = ended.map((attempt) => ({ attempt, outcome: outcomeOf(attempt) }))
  const inQueue = decided.filter(({ outcome }) => outcome.state !== 'held')
  if (inQueue.length > 0) await services.store.write((tx) => recordInQueue(tx, inQueue))
  for (const { attempt, outcome } of decided) if (outcome.state === 'held') await recordHeld(services, attempt)
}

interface Decided {
  attempt: EndedAttempt
  outcome: DeliveryOutcome
}

/** Leaves a delivery unchanged if it was replayed or claimed by another process. */
async function recordInQueue(tx: Tx, decided: readonly Decided[]): Promise<void> {
  const delivered = decided.filter(({ outcome }) => outcome.state === 'delivered')
  const settled = await deleteQueued(
    tx,
    delivered.map(({ attempt }) => attempt.queued),
  )
  for (const { attempt, outcome } of decided) {
    if (outcome.state === 'delivered') continue
    if (await recordFailure(tx, attempt.queued, { ...outcome, attempts: attempt.queued.attempts + 1 })) {
      settled.add(attempt.queued.seq)
    }
  }
  const rows = decided.filter(({ attempt }) => settled.has(attempt.queued.seq)).map(deliveryRow)
  await insertWebhookDeliveries(tx, rows)
}

/** The last failure of an event keeps it in the queue and switches off its subscription. */
async function recordHeld({ store, clock, log }: RecordServices, attempt: EndedAttempt): Promise<void> {
  const { subscription, queued, result } = attempt
  const { id, receiver_revision: revision } = subscription
  await store.write(async (tx) => {
    // The subscription is locked before its queue, as when it is switched or deleted, so that no one sees a partial
    // change.
    const row = await lockWebhookSubscription(tx, id)
    if (!(await recordFailure(tx, queued, { state: 'held', attempts: queued.attempts + 1 }))) return
    await insertWebhookDeliveries(tx, [deliveryRow({ attempt, outcome: { state: 'held' } })])
    const reason = `the event ${queued.event_id} failed ${MOST_ATTEMPTS} times, the last with: ${result.error}`
    if (await switchOff(tx, id, { reason, now: clock.now(), revision })) {
      log.warn({ subscription: id, event: queued.event_id }, 'a webhook subscription was switched off')
      return
    }
    // The subscription was switched on or got another URL during this attempt, so the event starts again.
    if (row?.active === 1) await resumeHeld(tx, id, clock.now())
  })
}

function deliveryRow({ attempt, outcome }: Decided): NewWebhookDelivery {
  const { subscription, queued, startedAt, result } = attempt
  return {
    id: newTimedId('whd', startedAt),
    subscription_id: subscription.id,
    event_id: queued.event_id,
    attempt: queued.attempts + 1,
    status: result.error === null ? 'succeeded' : 'failed',
    response_code: result.status,
    duration_ms: result.duration_ms,
    error: result.error,
    next_attempt_at: outcome.state === 'waiting' ? outcome.next_attempt_at : null,
    created_at: startedAt,
  }
}

/** Returns the delivery to the queue, and switches off the subscription because its secret cannot be read. */
export async function switchOffUnreadable(
  { store, clock }: RecordServices,
  { id, secret }: Pick<SubscriptionRow, 'id' | 'secret'>,
  queued: Queued,
): Promise<void> {
  const reason = 'its secret cannot be read with this encryption key: rotate the secret'
  await store.write(async (tx) => {
    const row = await lockWebhookSubscription(tx, id)
    await releaseClaims(tx, [queued])
    // The secret may have been rotated meanwhile.
    if (row === null || !row.secret.equals(secret)) return
    await switchOff(tx, id, { reason, now: clock.now(), revision: row.receiver_revision })
  })
}
