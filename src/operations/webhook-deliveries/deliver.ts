/** Delivers what is due: many receivers at once, none of them in the way of another. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import { findEvent, findSmallEvent } from '../../store/events.ts'
import { newId } from '../../store/id.ts'
import type { Row } from '../../store/schema.ts'
import { insertWebhookDelivery } from '../../store/webhook-deliveries.ts'
import {
  claimQueued,
  LONGEST_CLAIM_MS,
  type Queued,
  resumeHeld,
  sendable,
  settleQueued,
} from '../../store/webhook-queue.ts'
import { activeSubscriptions, lockWebhookSubscription, switchOff } from '../../store/webhook-subscriptions.ts'
import { pause } from '../../timing.ts'
import { eventRecord } from '../api-records.ts'
import { previousSecrets, secretPurpose } from '../webhook-subscriptions/secret.ts'
import { fanOut, SUBSCRIPTIONS_PER_TURN } from './fan-out.ts'
import { MOST_ATTEMPTS, outcomeOf } from './outcome.ts'
import { finishRemovals } from './removals.ts'
import { advanceReplays } from './replay.ts'
import { type SendResult, sendWebhook } from './send.ts'
import { headersOf } from './signature.ts'

export type DeliveryServices = Pick<Services, 'store' | 'clock' | 'log' | 'config' | 'vault'> &
  Partial<Pick<Services, 'ending'>>
type Subscription = Row<'webhook_subscriptions'>

const PER_ORIGIN = 32
const OVERALL = 256
/** A receiver has ten seconds; what is claimed for longer belonged to a process that died. */
const CLAIM_MS = LONGEST_CLAIM_MS
const TIMEOUT_MS = 10_000
const LOOK_MS = 250
const GATHER_MS = 2
/** Between two looks for new events while something is on its way. */
const FAN_MS = 100

export interface RoundOptions {
  signal?: AbortSignal
  /** Starts nothing new once it is aborted; what is on its way is waited for. */
  stopping?: AbortSignal
  /** The same after so long, in milliseconds of the machine's own time. */
  forMs?: number
  send?: typeof sendWebhook
}

/** Runs until nothing is due, or its time is over; what is on its way then is waited for. */
export async function deliverRound(services: DeliveryServices, options: RoundOptions = {}): Promise<void> {
  const { signal, stopping, forMs = 580_000, send = sendWebhook } = options
  const until = performance.now() + forMs
  const signals = [signal, stopping].filter((one) => one !== undefined)
  /** By origin, and by subscription. */
  const underway = new Map<string, number>()
  const running = new Set<Promise<void>>()
  const large: Large = { underway: null }
  // What ends while others are being started is not waited for.
  let [isRung, wakeUp] = [false, () => {}]
  const ring = () => {
    isRung = true
    wakeUp()
  }
  const start = (subscription: Subscription, queued: Queued) => {
    const names = [new URL(subscription.url).origin, subscription.id]
    for (const name of names) underway.set(name, (underway.get(name) ?? 0) + 1)
    const work = attempt(services, subscription, queued, { send, large })
      .catch((error) => services.log.error({ err: error, event: queued.event_id }, 'a delivery could not be recorded'))
      .finally(() => {
        for (const name of names) underway.set(name, underway.get(name)! - 1)
        running.delete(work)
        ring()
      })
    running.add(work)
  }
  // Beside the sending, not before it: many subscribers of many events take their time.
  let fanning: Promise<void> | undefined
  let fannedAt = Number.NEGATIVE_INFINITY
  let hasMore = false
  let fault: unknown
  const fan = () => {
    if (fanning !== undefined || performance.now() - fannedAt < FAN_MS) return
    fanning = fanOut(services, signal)
      .then(async () => {
        hasMore = await advanceReplays(services, ...signals)
        await finishRemovals(services, ...signals)
      })
      .catch((error) => {
        fault = error
      })
      .finally(() => {
        fanning = undefined
        fannedAt = hasMore ? Number.NEGATIVE_INFINITY : performance.now()
      })
  }
  try {
    for (;;) {
      signal?.throwIfAborted()
      if (fault !== undefined) throw fault
      fan()
      // What it queues while this looks at what is due is due as well.
      const wasFanning = fanning !== undefined
      const isOver = stopping?.aborted === true || performance.now() >= until
      const started = isOver ? 0 : await startDue(services, underway, running.size, start)
      if (running.size === 0 && started === 0) {
        if (isOver || (!wasFanning && !hasMore)) return
        await fanning
        continue
      }
      await new Promise<void>((done) => {
        if (isRung) return done()
        const timer = setTimeout(done, LOOK_MS)
        wakeUp = () => {
          clearTimeout(timer)
          done()
        }
      })
      isRung = false
      // Those that end together make room together.
      await pause(GATHER_MS)
    }
  } finally {
    await Promise.all([...running, fanning])
  }
}

/**
 * A turn for each subscription, those with the least on their way first, as far as its origin and all together have
 * room: an origin never takes more than half of what is left. Answers how many were started.
 */
async function startDue(
  { store, clock }: DeliveryServices,
  underway: ReadonlyMap<string, number>,
  busy: number,
  start: (subscription: Subscription, queued: Queued) => void,
): Promise<number> {
  let [started, room] = [0, OVERALL - busy]
  const busyWith = (name: string) => underway.get(name) ?? 0
  const subscriptions = await activeSubscriptions(store.db)
  subscriptions.sort((a, b) => busyWith(a.id) - busyWith(b.id) || a.seq - b.seq)
  let looked = 0
  for (const subscription of subscriptions) {
    // On SQLite nothing else makes room for requests while many subscriptions are looked through.
    if (++looked % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
    const free = Math.min(PER_ORIGIN, Math.ceil(room / 2)) - busyWith(new URL(subscription.url).origin)
    if (free <= 0) continue
    const now = clock.now()
    const due = await sendable(store.db, subscription, now, free)
    if (due.length === 0) continue
    const claim = { now, until: now + CLAIM_MS }
    const seqs = due.map(({ seq }) => seq)
    const claimed = await store.write((tx) => claimQueued(tx, seqs, claim))
    for (const queued of due.filter(({ seq }) => claimed.has(seq))) {
      start(subscription, { ...queued, claimed_until: claim.until })
      started++
      room--
    }
  }
  return started
}

/** The one large event that is on its way: hundreds of them side by side would be more than the memory holds. */
interface Large {
  underway: Promise<void> | null
}

interface Attempting {
  send: typeof sendWebhook
  large: Large
}

async function attempt(
  services: DeliveryServices,
  subscription: Subscription,
  queued: Queued,
  { send, large }: Attempting,
): Promise<void> {
  const { store } = services
  const small = await findSmallEvent(store.db, queued.event_id)
  if (small !== null) return attemptWith(services, subscription, queued, { event: small, send })
  if (large.underway !== null) {
    await large.underway.catch(() => {})
    await store.write((tx) => settleQueued(tx, queued, {}))
    return
  }
  const event = findEvent(store.db, queued.event_id)
  large.underway = event.then((found) => attemptWith(services, subscription, queued, { event: found, send }))
  await large.underway.finally(() => {
    large.underway = null
  })
}

async function attemptWith(
  services: DeliveryServices,
  subscription: Subscription,
  queued: Queued,
  { event, send }: { event: Row<'events'> | null; send: typeof sendWebhook },
): Promise<void> {
  const { store, clock, log } = services
  if (event === null) {
    await store.write((tx) => settleQueued(tx, queued, { state: 'delivered' }))
    return
  }
  const startedAt = clock.now()
  const secrets = secretsOf(services, subscription, startedAt)
  if (secrets === null) {
    await stop(services, subscription, queued, 'its secret cannot be read with this encryption key: rotate the secret')
    return
  }
  const result = await sendEvent(services, subscription, event, { secrets, startedAt, send }).catch(
    (error): SendResult => {
      // It counts as an attempt: it would hold up its resource for ever.
      log.error({ err: error, event: event.id, subscription: subscription.id }, 'a delivery could not be made')
      return {
        status: null,
        error: 'the delivery could not be made; the log of the service has the cause',
        duration_ms: 0,
      }
    },
  )
  // Nobody knows what came of it, and the receiver is not to blame: it is made again once its claim is over.
  if (services.ending?.aborted === true && result.status === null) return
  await record(services, subscription, queued, startedAt, result)
  // It keeps its place until its connection is free: bodies without end would otherwise open one after another.
  await result.freed
}

interface Sending {
  secrets: readonly string[]
  startedAt: number
  send: typeof sendWebhook
}

async function sendEvent(
  { config, ending }: DeliveryServices,
  { url }: Subscription,
  event: Row<'events'>,
  { secrets, startedAt, send }: Sending,
): Promise<SendResult> {
  const body = JSON.stringify(eventRecord(event))
  return send({
    url,
    headers: headersOf({ eventId: event.id, body, secrets, now: startedAt }),
    body,
    allowPrivate: config.values['webhooks.allow-private'],
    ports: config.values['webhooks.ports'],
    timeoutMs: TIMEOUT_MS,
    ending,
  })
}

async function record(
  { store, clock, log }: DeliveryServices,
  { id, receiver_revision: revision }: Subscription,
  queued: Queued,
  startedAt: number,
  { status, error, duration_ms }: SendResult,
): Promise<void> {
  const attempts = queued.attempts + 1
  const succeeded = error === null
  const outcome = outcomeOf(attempts, startedAt, succeeded)
  const next = outcome.state === 'waiting' ? outcome.next_attempt_at : null
  await store.write(async (tx) => {
    // The subscription before its queue, as whoever switches or deletes it: neither sees the other's half.
    const row = outcome.state === 'held' ? await lockWebhookSubscription(tx, id) : null
    const settled = await settleQueued(tx, queued, {
      state: outcome.state,
      attempts,
      ...(next === null ? {} : { next_attempt_at: next }),
    })
    // Replayed, or another process's by now: what this one saw no longer decides.
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
    // It was switched on, or given another URL, while this attempt was under way: the event begins anew.
    if (row?.active === 1) await resumeHeld(tx, id, clock.now())
  })
}

/** The newest first; null where that cannot be read. Nothing is ever sent unsigned. */
function secretsOf(services: DeliveryServices, subscription: Subscription, now: number): string[] | null {
  const current = readSecret(services, subscription, subscription.secret)
  if (current === null) return null
  const previous = previousSecrets(subscription, now).map(({ secret }) => readSecret(services, subscription, secret))
  return [current, ...previous.filter((secret) => secret !== null)]
}

function readSecret({ vault, log }: DeliveryServices, { id }: Subscription, sealed: Buffer): string | null {
  try {
    return vault.open(sealed, secretPurpose(id)).toString('utf8')
  } catch (error) {
    log.error({ err: error, subscription: id }, 'a secret of a webhook subscription cannot be read')
    return null
  }
}

async function stop(
  { store, clock }: DeliveryServices,
  { id, secret }: Subscription,
  queued: Queued,
  reason: string,
): Promise<void> {
  await store.write(async (tx) => {
    const row = await lockWebhookSubscription(tx, id)
    await settleQueued(tx, queued, {})
    // It may have been rotated meanwhile.
    if (row === null || !row.secret.equals(secret)) return
    await switchOff(tx, id, { reason, now: clock.now(), revision: row.receiver_revision })
  })
}
