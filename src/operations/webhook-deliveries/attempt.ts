/** Makes one attempt to deliver an event to a subscription: signs it, sends it and passes on the result. */
import type { Services } from '../../context.ts'
import { type BegunCall, beginCall, outcomeOfStatus } from '../../platform/telemetry/calls.ts'
import { formatTraceparent } from '../../platform/telemetry/trace-context.ts'
import { signatureHeaders } from '../../platform/webhook-signature.ts'
import { findEvent, findOrdinaryEvents, findSmallEvent } from '../../store/events/events.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { deleteQueued, giveBack, type Queued } from '../../store/webhooks/queue.ts'
import { hasChangedSince, type SubscriptionRow } from '../../store/webhooks/subscriptions.ts'
import { eventRecord } from '../api-records.ts'
import { keysOf, type OpenedKeys } from '../webhook-subscriptions/secret.ts'
import { type EndedAttempt, RECORD_FOR_MS, switchOffUnreadable } from './results.ts'
import type { SendResult, sendWebhook } from './send.ts'

export type DeliveryServices = Pick<Services, 'store' | 'clock' | 'log' | 'config' | 'vault'> &
  Partial<Pick<Services, 'ending'>>

/** Time that a receiver has to answer. Together with `RECORD_FOR_MS` it is less than `LONGEST_CLAIM_MS`. */
const ANSWER_TIMEOUT_MS = 10_000

/**
 * The span does not name receivers, because they are strangers' hosts. A worker's round is not part of a delivery's
 * trace.
 */
const WEBHOOK_CALL = { service: 'webhook', endpoint: 'receivers', operation: 'deliver', isRoot: true } as const

/** State that the attempts of one round share. */
export interface AttemptRound {
  send: typeof sendWebhook
  opened: OpenedKeys
  /** Attempts whose results are not written yet. */
  ended: EndedAttempt[]
  /** Resolves after the last large event. Only one is sent at a time, because hundreds would exceed the memory. */
  large: Promise<void>
}

/** An event that this process has claimed for a subscription. */
export interface ClaimedDelivery {
  subscription: SubscriptionRow
  /** The number of changes of subscriptions when this one was read. */
  asOf: number
  queued: Queued
  /** The event as it is sent; undefined if it is missing, or too large to be read with others. */
  body: Uint8Array | undefined
}

const eventBody = (event: Row<'events'>): Buffer => Buffer.from(JSON.stringify(eventRecord(event)))

/** Returns the bodies of events by their ids, without those of missing and large events. */
export async function readBodies(reader: Reader, queued: readonly Queued[]): Promise<ReadonlyMap<string, Buffer>> {
  // The query uses sequence numbers, because they are adjacent and ids are not.
  const events = await findOrdinaryEvents(reader, [...new Set(queued.map(({ sequence }) => sequence))])
  return new Map(events.map((event) => [event.id, eventBody(event)]))
}

/** Resolves once the connection is free again. Rejects when the event or the subscription cannot be read or written. */
export async function attemptDelivery(
  services: DeliveryServices,
  claimed: ClaimedDelivery,
  round: AttemptRound,
): Promise<void> {
  const { db } = services.store
  const { event_id } = claimed.queued
  if (claimed.body !== undefined) return attemptWith(services, claimed, claimed.body, round)
  const small = await findSmallEvent(db, event_id)
  if (small !== null) return attemptWith(services, claimed, eventBody(small), round)
  const attempt = round.large.then(async () => {
    const event = await findEvent(db, event_id)
    if (event !== null) return attemptWith(services, claimed, eventBody(event), round)
    // The event was removed, so nothing is left to deliver.
    await services.store.write((tx) => deleteQueued(tx, [claimed.queued]))
  })
  round.large = attempt.catch(() => {})
  return attempt
}

async function attemptWith(
  services: DeliveryServices,
  claimed: ClaimedDelivery,
  body: Uint8Array,
  round: AttemptRound,
): Promise<void> {
  const { store, clock, log, ending } = services
  const { subscription, queued } = claimed
  const startedAt = clock.now()
  if (!mayBegin(claimed, startedAt)) {
    await store.write((tx) => giveBack(tx, queued))
    return
  }
  let result: SendResult
  try {
    const keys = keysOf(services, subscription, startedAt, round.opened)
    // Nothing is sent if the subscription's secret cannot be read.
    if (keys === null) return switchOffUnreadable(services, subscription, queued)
    const headers = signatureHeaders({ eventId: queued.event_id, body, keys, now: startedAt })
    result = await sendObserved(services, claimed, round, { headers, body })
  } catch (error) {
    // This counts as an attempt, because the event would otherwise block its resource forever.
    log.error({ err: error, event: queued.event_id, subscription: subscription.id }, 'a delivery could not be made')
    const reason = 'the delivery failed inside the service; its log has the cause'
    result = { status: null, error: reason, duration_ms: 0 }
  }
  // At a shutdown the result is unknown, and the receiver is not at fault. The attempt is repeated once its claim
  // expires.
  if (ending?.aborted === true && result.status === null) return
  round.ended.push({ subscription, queued, startedAt, result })
}

/**
 * Whether the attempt may start: its claim outlasts the attempt and the write of its result, so that no other process
 * makes it too. Its subscription must be unchanged since it was read, because its URL or secret could be another one.
 */
const mayBegin = ({ subscription, asOf, queued }: ClaimedDelivery, now: number): boolean =>
  queued.claimed_until - now >= ANSWER_TIMEOUT_MS + RECORD_FOR_MS && !hasChangedSince(subscription.id, asOf)

async function sendObserved(
  { config: { values }, ending }: DeliveryServices,
  { subscription, queued: { event_id, subscription_id, attempts } }: ClaimedDelivery,
  { send }: AttemptRound,
  { headers, body }: { headers: Record<string, string>; body: Uint8Array },
): Promise<SendResult> {
  const attributes = { 'svc.event_id': event_id, 'svc.subscription_id': subscription_id, 'svc.attempt': attempts + 1 }
  const call: BegunCall = beginCall({ ...WEBHOOK_CALL, attributes })
  let status: number | null = null
  try {
    const result = await send({
      url: subscription.url,
      headers: { ...headers, traceparent: formatTraceparent(call.span) },
      body,
      allowPrivate: values['webhooks.allow-private'],
      ports: values['webhooks.ports'],
      timeoutMs: ANSWER_TIMEOUT_MS,
      ending,
    })
    status = result.status
    return result
  } finally {
    call.finish(status === null ? 'unanswered' : outcomeOfStatus(status))
  }
}
