/** Delivers what is due: many receivers at once, none of them in the way of another. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { claimQueued, LONGEST_CLAIM_MS, type Queued, sendable } from '../../store/webhook-queue.ts'
import { activeSubscriptions, type SubscriptionRow } from '../../store/webhook-subscriptions.ts'
import { pause } from '../../timing.ts'
import { type AttemptRound, attemptDelivery, type DeliveryServices } from './attempt.ts'
import { DeliveriesUnderWay } from './deliveries-under-way.ts'
import { createEnqueuing } from './enqueuing.ts'
import { SUBSCRIPTIONS_PER_TURN } from './fan-out.ts'
import { sendWebhook } from './send.ts'

const DELIVERIES_PER_ORIGIN = 32
const DELIVERIES_OVERALL = 256
/** Longest between two looks at what is due while deliveries are under way. */
const LOOK_EVERY_MS = 250
/** Deliveries that end together make room together. */
const GATHER_MS = 2
const DELIVER_ROUND_MS = 580_000

export interface DeliverRoundOptions {
  signal?: AbortSignal
  /** Starts nothing new once it is aborted; what is under way is waited for. */
  stopping?: AbortSignal
  /** The same after so long, in milliseconds of the machine's own time. */
  forMs?: number
  send?: typeof sendWebhook
}

/** Runs until nothing is due, or its time is over; what is under way then is waited for. */
export async function deliverRound(services: DeliveryServices, options: DeliverRoundOptions = {}): Promise<void> {
  const { signal, stopping, forMs = DELIVER_ROUND_MS, send = sendWebhook } = options
  const until = performance.now() + forMs
  const underWay = new DeliveriesUnderWay()
  const signals = [signal, stopping].filter((each) => each !== undefined)
  const enqueuing = createEnqueuing(services, signal, ...signals)
  const round: AttemptRound = { send, largeUnderWay: null }
  const start = (subscription: SubscriptionRow, queued: Queued) =>
    underWay.start([originOf(subscription), subscription.id], () =>
      attemptDelivery(services, subscription, queued, round).catch((error) =>
        services.log.error({ err: error, event: queued.event_id }, 'a delivery could not be recorded'),
      ),
    )
  try {
    for (;;) {
      signal?.throwIfAborted()
      enqueuing.begin()
      // What is enqueued while this looks at what is due is due as well.
      const wasEnqueuing = enqueuing.isRunning
      const isOver = stopping?.aborted === true || performance.now() >= until
      const started = isOver ? 0 : await startDue(services, underWay, start)
      if (underWay.size === 0 && started === 0) {
        if (isOver || (!wasEnqueuing && !enqueuing.hasMore)) return
        await enqueuing.ended()
        continue
      }
      await underWay.ended(LOOK_EVERY_MS)
      await pause(GATHER_MS)
    }
  } finally {
    await Promise.all([underWay.allEnded(), enqueuing.ended()])
  }
}

const originOf = ({ url }: SubscriptionRow): string => new URL(url).origin

/**
 * A turn for each subscription, those with the least under way first, as far as its origin and all together have room:
 * an origin never takes more than half of what is left. Answers how many were started.
 */
async function startDue(
  { store, clock }: DeliveryServices,
  underWay: DeliveriesUnderWay,
  start: (subscription: SubscriptionRow, queued: Queued) => void,
): Promise<number> {
  let [started, room] = [0, DELIVERIES_OVERALL - underWay.size]
  const subscriptions = await activeSubscriptions(store.db)
  subscriptions.sort((a, b) => underWay.count(a.id) - underWay.count(b.id) || a.seq - b.seq)
  for (const [i, subscription] of subscriptions.entries()) {
    // On SQLite nothing else makes room for requests while many subscriptions are looked through.
    if ((i + 1) % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
    const free = Math.min(DELIVERIES_PER_ORIGIN, Math.ceil(room / 2)) - underWay.count(originOf(subscription))
    if (free <= 0) continue
    const now = clock.now()
    const due = await sendable(store.db, subscription, now, free)
    if (due.length === 0) continue
    // A receiver has ten seconds: a delivery that is claimed for longer belonged to a process that died.
    const claim = { now, until: now + LONGEST_CLAIM_MS }
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
