/** Makes one attempt to deliver an event to a subscription: reads, signs, sends and records it. */
import type { Services } from '../../context.ts'
import { findEvent, findSmallEvent } from '../../store/events.ts'
import type { Row } from '../../store/schema.ts'
import { type Queued, settleQueued } from '../../store/webhook-queue.ts'
import type { SubscriptionRow } from '../../store/webhook-subscriptions.ts'
import { observeCall, outcomeOfStatus } from '../../telemetry/calls.ts'
import { eventRecord } from '../api-records.ts'
import { recordAttempt, switchOffUnreadable } from './record-attempt.ts'
import type { SendResult, sendWebhook } from './send.ts'
import { signatureHeaders } from './signature.ts'
import { signingSecrets } from './signing-secrets.ts'

export type DeliveryServices = Pick<Services, 'store' | 'clock' | 'log' | 'config' | 'vault'> &
  Partial<Pick<Services, 'ending'>>

/** Time that a receiver has to answer. */
const ANSWER_TIMEOUT_MS = 10_000

/** Receivers are strangers' hosts, so they are not told apart; a worker's round is no part of a delivery's trace. */
const WEBHOOK_CALL = { service: 'webhook', endpoint: 'receivers', operation: 'deliver', isRoot: true } as const

/** State that the attempts of one round share. */
export interface AttemptRound {
  send: typeof sendWebhook
  /** The one large event in progress, because hundreds in parallel would exceed the memory. */
  largeUnderWay: Promise<void> | null
}

/** Rejects when the database cannot be written. */
export async function attemptDelivery(
  services: DeliveryServices,
  subscription: SubscriptionRow,
  queued: Queued,
  round: AttemptRound,
): Promise<void> {
  const { store } = services
  const { send } = round
  const small = await findSmallEvent(store.db, queued.event_id)
  if (small !== null) return attemptWith(services, subscription, queued, { event: small, send })
  if (round.largeUnderWay !== null) {
    await round.largeUnderWay.catch(() => {})
    await store.write((tx) => settleQueued(tx, queued, {}))
    return
  }
  round.largeUnderWay = findEvent(store.db, queued.event_id).then((event) =>
    attemptWith(services, subscription, queued, { event, send }),
  )
  await round.largeUnderWay.finally(() => {
    round.largeUnderWay = null
  })
}

interface EventToSend {
  event: Row<'events'> | null
  send: typeof sendWebhook
}

async function attemptWith(
  services: DeliveryServices,
  subscription: SubscriptionRow,
  queued: Queued,
  { event, send }: EventToSend,
): Promise<void> {
  const { store, clock, log } = services
  if (event === null) {
    await store.write((tx) => settleQueued(tx, queued, { state: 'delivered' }))
    return
  }
  const startedAt = clock.now()
  const secrets = signingSecrets(services, subscription, startedAt)
  if (secrets === null) {
    await switchOffUnreadable(services, subscription, queued)
    return
  }
  const attempt = queued.attempts + 1
  const result = await sendEvent(services, subscription, { event, send, secrets, startedAt, attempt }).catch(
    (error): SendResult => {
      // It counts as an attempt, because it would otherwise block its resource forever.
      log.error({ err: error, event: event.id, subscription: subscription.id }, 'a delivery could not be made')
      return {
        status: null,
        error: 'the delivery could not be made; the log of the service has the cause',
        duration_ms: 0,
      }
    },
  )
  // At a shutdown the result is unknown and not the receiver's fault. The attempt is repeated once its claim expires.
  if (services.ending?.aborted === true && result.status === null) return
  await recordAttempt(services, subscription, queued, startedAt, result)
  // The attempt ends only when its connection is free, so that endless bodies cannot open one connection after another.
  await result.freed
}

interface SignedEvent {
  event: Row<'events'>
  send: typeof sendWebhook
  secrets: readonly string[]
  startedAt: number
  /** Counts from 1. */
  attempt: number
}

async function sendEvent(
  { config, ending }: DeliveryServices,
  { id, url }: SubscriptionRow,
  { event, send, secrets, startedAt, attempt }: SignedEvent,
): Promise<SendResult> {
  const body = JSON.stringify(eventRecord(event))
  const post = (trace: Record<string, string>) =>
    send({
      url,
      headers: { ...signatureHeaders({ eventId: event.id, body, secrets, now: startedAt }), ...trace },
      body,
      allowPrivate: config.values['webhooks.allow-private'],
      ports: config.values['webhooks.ports'],
      timeoutMs: ANSWER_TIMEOUT_MS,
      ending,
    })
  const attributes = { 'svc.event_id': event.id, 'svc.subscription_id': id, 'svc.attempt': attempt }
  return observeCall({ ...WEBHOOK_CALL, attributes }, post, ({ status }) =>
    status === null ? 'unanswered' : outcomeOfStatus(status),
  )
}
