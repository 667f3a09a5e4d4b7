/** Makes one attempt to deliver an event to a subscription: signs it, sends it and hands its result on. */
import type { Services } from '../../context.ts'
import { findEvent, findSmallEvent } from '../../store/events.ts'
import type { Row } from '../../store/schema.ts'
import { settleQueued } from '../../store/webhook-outcomes.ts'
import type { Queued } from '../../store/webhook-queue.ts'
import type { SubscriptionRow } from '../../store/webhook-subscriptions.ts'
import { observeCall, outcomeOfStatus } from '../../telemetry/calls.ts'
import type { AttemptResults } from './attempt-results.ts'
import { eventBody } from './event-bodies.ts'
import { switchOffUnreadable } from './record-attempt.ts'
import type { SendResult, sendWebhook } from './send.ts'
import { signatureHeaders } from './signature.ts'
import type { SigningKeyring } from './signing-secrets.ts'

export type DeliveryServices = Pick<Services, 'store' | 'clock' | 'log' | 'config' | 'vault'> &
  Partial<Pick<Services, 'ending'>>

/** Time that a receiver has to answer. */
const ANSWER_TIMEOUT_MS = 10_000

/** Receivers are strangers' hosts, so they are not told apart; a worker's round is no part of a delivery's trace. */
const WEBHOOK_CALL = { service: 'webhook', endpoint: 'receivers', operation: 'deliver', isRoot: true } as const

/** State that the attempts of one round share. */
export interface AttemptRound {
  send: typeof sendWebhook
  keyring: SigningKeyring
  results: AttemptResults
  /** The one large event in progress, because hundreds in parallel would exceed the memory. */
  largeUnderWay: Promise<void> | null
}

/** An event that this process has claimed for a subscription. */
export interface ClaimedDelivery {
  subscription: SubscriptionRow
  queued: Queued
  /** The event as it is sent; undefined for one that is missing, or too large to be read with others. */
  body: Uint8Array | undefined
}

/** Resolves once the connection is free again. Rejects when the event or the subscription cannot be read or written. */
export async function attemptDelivery(
  services: DeliveryServices,
  { subscription, queued, body }: ClaimedDelivery,
  round: AttemptRound,
): Promise<void> {
  const { store } = services
  if (body !== undefined) return attemptWith(services, subscription, queued, body, round)
  const small = await findSmallEvent(store.db, queued.event_id)
  if (small !== null) return attemptWith(services, subscription, queued, eventBody(small), round)
  if (round.largeUnderWay !== null) {
    await round.largeUnderWay.catch(() => {})
    await store.write((tx) => settleQueued(tx, queued, {}))
    return
  }
  round.largeUnderWay = findEvent(store.db, queued.event_id).then((event) =>
    attemptLarge(services, subscription, queued, event, round),
  )
  await round.largeUnderWay.finally(() => {
    round.largeUnderWay = null
  })
}

async function attemptLarge(
  services: DeliveryServices,
  subscription: SubscriptionRow,
  queued: Queued,
  event: Row<'events'> | null,
  round: AttemptRound,
): Promise<void> {
  if (event !== null) return attemptWith(services, subscription, queued, eventBody(event), round)
  await services.store.write((tx) => settleQueued(tx, queued, { state: 'delivered' }))
}

async function attemptWith(
  services: DeliveryServices,
  subscription: SubscriptionRow,
  queued: Queued,
  body: Uint8Array,
  round: AttemptRound,
): Promise<void> {
  const { clock, log } = services
  const startedAt = clock.now()
  let result: SendResult | null
  try {
    result = await sendSigned(services, subscription, queued, { body, startedAt }, round)
  } catch (error) {
    // It counts as an attempt, because it would otherwise block its resource forever.
    log.error({ err: error, event: queued.event_id, subscription: subscription.id }, 'a delivery could not be made')
    const reason = 'the delivery could not be made; the log of the service has the cause'
    result = { status: null, error: reason, duration_ms: 0 }
  }
  if (result === null) return switchOffUnreadable(services, subscription, queued)
  // At a shutdown the result is unknown and not the receiver's fault. The attempt is repeated once its claim expires.
  if (services.ending?.aborted === true && result.status === null) return
  round.results.add({ subscription, queued, startedAt, result })
  // The attempt ends only when its connection is free, so that endless bodies cannot open one connection after another.
  await result.freed
}

/** Returns null, having sent nothing, where the secret of the subscription cannot be read. */
async function sendSigned(
  services: DeliveryServices,
  subscription: SubscriptionRow,
  { event_id: eventId, attempts }: Queued,
  { body, startedAt }: { body: Uint8Array; startedAt: number },
  { send, keyring }: AttemptRound,
): Promise<SendResult | null> {
  const keys = keyring.keysOf(services, subscription, startedAt)
  if (keys === null) return null
  const { config, ending } = services
  const signed = signatureHeaders({ eventId, body, keys, now: startedAt })
  const post = ({ traceparent }: { traceparent: string }) =>
    send({
      url: subscription.url,
      headers: { ...signed, traceparent },
      body,
      allowPrivate: config.values['webhooks.allow-private'],
      ports: config.values['webhooks.ports'],
      timeoutMs: ANSWER_TIMEOUT_MS,
      ending,
    })
  const attributes = { 'svc.event_id': eventId, 'svc.subscription_id': subscription.id, 'svc.attempt': attempts + 1 }
  return observeCall({ ...WEBHOOK_CALL, attributes }, post, ({ status }) =>
    status === null ? 'unanswered' : outcomeOfStatus(status),
  )
}
