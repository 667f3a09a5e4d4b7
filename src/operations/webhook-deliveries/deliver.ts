/** Delivers due events to many receivers in parallel, so that none delays another. */
import { pause } from '../../platform/timing.ts'
import { type AttemptRound, attemptDelivery, type ClaimedDelivery, type DeliveryServices } from './attempt.ts'
import { AttemptResults } from './attempt-results.ts'
import { DeliveriesUnderWay } from './deliveries-under-way.ts'
import { createEnqueuing } from './enqueuing.ts'
import { EventBodies } from './event-bodies.ts'
import { sendWebhook } from './send.ts'
import { SigningKeyring } from './signing-secrets.ts'
import { startDue } from './start-due.ts'

/** Longest time between two looks for due deliveries while others are in progress. */
const LOOK_EVERY_MS = 250
/** The same while new deliveries are being enqueued. */
const EXPECTED_LOOK_MS = 20
/**
 * Time to collect deliveries that end together, so that their results are written and their places refilled together.
 */
const GATHER_MS = 2
/** The same while others wait for these places, or until there are this many results. */
const BUSY_GATHER_MS = 50
const MANY_RESULTS = 256
const DELIVER_ROUND_MS = 580_000

export interface DeliverRoundOptions {
  signal?: AbortSignal
  /** Once aborted, nothing new starts, and deliveries in progress are awaited. */
  stopping?: AbortSignal
  /** Length of the round in milliseconds of the monotonic clock. Nothing new starts after it. */
  forMs?: number
  /** Registers a listener that is called when there may be something new to deliver. */
  onWake?(listener: () => void): void
  send?: typeof sendWebhook
}

/** Runs until nothing is due or the time is over, then awaits the deliveries in progress. */
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
  const results = new AttemptResults(services, () => underWay.interrupt())
  const round: AttemptRound = { send, results, keyring: new SigningKeyring(), largeUnderWay: null }
  const bodies = new EventBodies()
  /** Number of passes that had started when a result was last recorded. */
  let passesBefore: number | undefined
  const start = (claimed: ClaimedDelivery, origin: string, places: number) => {
    const { subscription, queued } = claimed
    const delivery = {
      origin,
      subscriptionId: subscription.id,
      apiKeyId: subscription.api_key_id ?? '',
      send: () =>
        attemptDelivery(services, claimed, round).catch((error) =>
          services.log.error({ err: error, event: queued.event_id }, 'the result of a delivery could not be written'),
        ),
      release: () => results.release(queued),
    }
    void underWay.add(delivery, places)
  }
  try {
    for (;;) {
      signal?.throwIfAborted()
      enqueuing.begin()
      // Deliveries that are enqueued during this look are due as well.
      const wasEnqueuing = enqueuing.isRunning
      const isOver = stopping?.aborted === true || performance.now() >= until
      if (isOver) underWay.releaseWaiting()
      // New claims are committed together with the results of the deliveries whose places they take.
      const [recorded, started] = await Promise.all([
        results.flush(),
        isOver ? 0 : startDue(services, { underWay, bodies, start }),
      ])
      if (recorded > 0) passesBefore = enqueuing.begun
      // The next events of the same resources are due now that these results are written.
      if (recorded > 0 && underWay.waiting === 0) continue
      if (underWay.size === 0 && started === 0 && results.size === 0) {
        if (isOver) return
        // More events may be queued for a receiver that had a full queue and has now delivered it.
        if (enqueuing.begun === passesBefore) enqueuing.begin({ atOnce: true })
        else if (!wasEnqueuing && !enqueuing.hasMore) return
        await enqueuing.ended()
        continue
      }
      await underWay.ended(enqueuing.isExpected ? EXPECTED_LOOK_MS : LOOK_EVERY_MS)
      await gathered(underWay, results)
    }
  } finally {
    underWay.releaseWaiting()
    while (underWay.size > 0 || results.size > 0) {
      if ((await results.flush()) === 0) await underWay.ended(LOOK_EVERY_MS)
    }
    await Promise.all([results.flush(), enqueuing.ended()])
  }
}

async function gathered(underWay: DeliveriesUnderWay, results: AttemptResults): Promise<void> {
  const until = performance.now() + BUSY_GATHER_MS
  do {
    await pause(GATHER_MS)
  } while (underWay.waiting > 0 && results.size < MANY_RESULTS && performance.now() < until)
}
