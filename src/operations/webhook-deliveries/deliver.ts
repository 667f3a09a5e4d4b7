/** Delivers what is due to many receivers at once, so that none delays another. */
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
/** Longest time between two looks at what is due while deliveries are in progress. */
const LOOK_EVERY_MS = 250
/** The same while new deliveries are being enqueued. */
const EXPECTED_LOOK_MS = 20
/** Time to collect deliveries that end together, so that their places are refilled together. */
const GATHER_MS = 2
const DELIVER_ROUND_MS = 580_000

export interface DeliverRoundOptions {
  signal?: AbortSignal
  /** Once aborted, nothing new starts, and deliveries in progress are awaited. */
  stopping?: AbortSignal
  /** Length of the round in milliseconds of the machine's monotonic time, after which nothing new starts. */
  forMs?: number
  /** Has `listener` called when there may be something new to deliver. */
  onWake?(listener: () => void): void
  send?: typeof sendWebhook
}

/** Runs until nothing is due or its time is over, then awaits the deliveries in progress. */
export async function deliverRound(services: DeliveryServices, options: DeliverRoundOptions = {}): Promise<void> {
  const { signal, stopping, forMs = DELIVER_ROUND_MS, onWake, send = sendWebhook } = options
  const until = performance.now() + forMs
  const underWay = new DeliveriesUnderWay()
  const signals = [signal, stopping].filter((each) => each !== undefined)
  const enqueuing = createEnqueuing(services, signal, ...signals)
  onWake?.(() => {
    enqueuing.expect()
    underWay.interrupt()
  })
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
      // Deliveries that are enqueued during this look are due as well.
      const wasEnqueuing = enqueuing.isRunning
      const isOver = stopping?.aborted === true || performance.now() >= until
      const started = isOver ? 0 : await startDue(services, underWay, start)
      if (underWay.size === 0 && started === 0) {
        if (isOver || (!wasEnqueuing && !enqueuing.hasMore)) return
        await enqueuing.ended()
        continue
      }
      await underWay.ended(enqueuing.isExpected ? EXPECTED_LOOK_MS : LOOK_EVERY_MS)
      await pause(GATHER_MS)
    }
  } finally {
    await Promise.all([underWay.allEnded(), enqueuing.ended()])
  }
}

const originOf = ({ url }: SubscriptionRow): string => new URL(url).origin

/**
 * Takes one turn per subscription, those with the fewest deliveries in progress first, within the limits of its origin
 * and of all. An origin never takes more than half of the remaining places. Returns the number of started deliveries.
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
    // Synchronous SQLite blocks requests while many subscriptions are examined, so this yields to them.
    if ((i + 1) % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
    const free = Math.min(DELIVERIES_PER_ORIGIN, Math.ceil(room / 2)) - underWay.count(originOf(subscription))
    if (free <= 0) continue
    const now = clock.now()
    const due = await sendable(store.db, subscription, now, free)
    if (due.length === 0) continue
    // A receiver has ten seconds, so a delivery with an older claim belonged to a process that died.
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
