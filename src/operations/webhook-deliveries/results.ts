/** Writes the results of attempts: their records, the next attempts, and the switching off of a subscription whose receiver keeps failing. */
import type { Services } from '../../context.ts'
import { ApiError } from '../../platform/errors.ts'
import { HOUR_MS, MINUTE_MS, pause, SECOND_MS } from '../../platform/timing.ts'
import { type Redactor, redactorOf } from '../../settings/redaction.ts'
import { newTimedId } from '../../store/id.ts'
import type { Tx } from '../../store/store.ts'
import { insertWebhookDeliveries, type NewWebhookDelivery } from '../../store/webhooks/deliveries.ts'
import { deleteQueued, giveBack, LONGEST_RETRY_MS, type Queued, resumeHeld } from '../../store/webhooks/queue.ts'
import { lockWebhookSubscription, type SubscriptionRow, switchOff } from '../../store/webhooks/subscriptions.ts'
import { answerText } from './answer-text.ts'
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
      await pause(WRITE_AGAIN_MS)
    }
  }
}

type RecordServices = Pick<Services, 'store' | 'clock' | 'log' | 'config'>

/** An attempt that has ended, with its result. */
export interface EndedAttempt {
  subscription: Pick<SubscriptionRow, 'id' | 'receiver_revision'>
  queued: Queued
  startedAt: number
  result: SendResult
}

/** When the event is sent again; null if it was delivered, or has failed for the last time. */
function nextAttemptAt({ queued, startedAt, result }: EndedAttempt): number | null {
  const delay = result.error === null ? undefined : RETRY_DELAYS_MS[queued.attempts]
  return delay === undefined ? null : startedAt + delay
}

const isLastFailure = (attempt: EndedAttempt): boolean =>
  attempt.result.error !== null && nextAttemptAt(attempt) === null

/** Writes the results of attempts in one transaction. Returns their number, and never rejects. */
export async function writeResults(services: RecordServices, ended: readonly EndedAttempt[]): Promise<number> {
  if (ended.length === 0) return 0
  const { store, log } = services
  const until = performance.now() + RECORD_FOR_MS
  const record = (some: readonly EndedAttempt[]) =>
    writeUnlessBusy(until, () => store.write((tx) => recordResults(tx, services, some)))
  const recordAlone = (attempt: EndedAttempt) =>
    record([attempt]).catch((error) => {
      log.error({ err: error, event: attempt.queued.event_id }, 'the result of a delivery could not be written')
    })
  // A result that cannot be written must not block the others.
  await record(ended).catch(() => Promise.all(ended.map(recordAlone)))
  return ended.length
}

/** Leaves a delivery unchanged if it was replayed or claimed by another process. */
async function recordResults(tx: Tx, services: RecordServices, ended: readonly EndedAttempt[]): Promise<void> {
  const settled = new Set<number>()
  // These lock subscriptions, which comes before their queues, as when one is switched or deleted.
  for (const attempt of ended.filter(isLastFailure))
    if (await recordLastFailure(tx, services, attempt)) settled.add(attempt.queued.seq)
  const delivered = ended.filter(({ result }) => result.error === null).map(({ queued }) => queued)
  for (const seq of await deleteQueued(tx, delivered)) settled.add(seq)
  for (const attempt of ended) {
    const next_attempt_at = nextAttemptAt(attempt)
    if (next_attempt_at === null) continue
    const { queued } = attempt
    if (await giveBack(tx, queued, { attempts: queued.attempts + 1, next_attempt_at })) settled.add(queued.seq)
  }
  const redactor = redactorOf(services.config)
  const written = ended.filter(({ queued }) => settled.has(queued.seq))
  await insertWebhookDeliveries(
    tx,
    written.map((attempt) => deliveryRow(attempt, redactor)),
  )
}

/** The last failure of an event keeps it in the queue and switches off its subscription. */
async function recordLastFailure(
  tx: Tx,
  { clock, log }: RecordServices,
  { subscription: { id, receiver_revision: revision }, queued, result }: EndedAttempt,
): Promise<boolean> {
  const row = await lockWebhookSubscription(tx, id)
  if (!(await giveBack(tx, queued, { state: 'held', attempts: queued.attempts + 1 }))) return false
  const reason = `the event ${queued.event_id} failed ${MOST_ATTEMPTS} times, the last with: ${result.error}`
  if (await switchOff(tx, id, { reason, now: clock.now(), revision }))
    log.warn({ subscription: id, event: queued.event_id }, 'a webhook subscription was switched off')
  // The subscription was switched on or got another URL during this attempt, so the event starts again.
  else if (row?.active === 1) await resumeHeld(tx, id, clock.now())
  return true
}

function deliveryRow(attempt: EndedAttempt, redactor: Redactor): NewWebhookDelivery {
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
    response_body: answerText(result.answer, { isFailure: result.error !== null, redactor }),
    next_attempt_at: nextAttemptAt(attempt),
    created_at: startedAt,
  }
}

/** Returns the delivery to the queue, and switches off the subscription because its secret cannot be read. */
export async function switchOffUnreadable(
  { store, clock }: Pick<RecordServices, 'store' | 'clock'>,
  { id, secret }: Pick<SubscriptionRow, 'id' | 'secret'>,
  queued: Queued,
): Promise<void> {
  const reason = 'its secret cannot be read with this encryption key: rotate the secret'
  await store.write(async (tx) => {
    const row = await lockWebhookSubscription(tx, id)
    await giveBack(tx, queued)
    // The secret may have been rotated meanwhile.
    if (row === null || !row.secret.equals(secret)) return
    await switchOff(tx, id, { reason, now: clock.now(), revision: row.receiver_revision })
  })
}
