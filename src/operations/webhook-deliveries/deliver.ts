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

/** Longest time between two checks for due deliveries while others are in progress. */
const LOOK_EVERY_MS = 250
/** Longest time between two checks while a pass enqueues new deliveries. */
const EXPECTED_LOOK_MS = 20
/** Deliveries that end within this time share one write of their results, and their places are filled together. */
const GATHER_MS = 2
/** Longest time to collect results while deliveries wait for their origin. */
const BUSY_GATHER_MS = 50
/** With this many results, no more are collected. */
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
  /** Number of passes that had started when a result was last written; undefined before the first. */
  let passesAtLastResult: number | undefined
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
      // A pass that runs during this look may enqueue deliveries that the look does not see.
      const wasEnqueuing = enqueuing.isRunning
      const isOver = stopping?.aborted === true || performance.now() >= until
      if (isOver) underWay.releaseWaiting()
      // New claims are committed together with the results of the deliveries whose places they take.
      const [recorded, started] = await Promise.all([
        results.flush(),
        isOver ? 0 : startDue(services, { underWay, bodies, start }),
      ])
      if (recorded > 0) passesAtLastResult = enqueuing.begun
      // The next events of the same resources are due now that these results are written.
      if (recorded > 0 && underWay.waiting === 0) continue
      if (underWay.size > 0 || started > 0 || results.size > 0) {
        await underWay.ended(enqueuing.isExpected ? EXPECTED_LOOK_MS : LOOK_EVERY_MS)
        await gathered(underWay, results)
        continue
      }
      if (isOver) return
      // Nothing is in progress or due. The round ends if a pass started after the last result, ended before this look,
      // and left no replay.
      const isRefilled = enqueuing.begun !== passesAtLastResult
      if (isRefilled && !wasEnqueuing && !enqueuing.hasMore) return
      // A receiver's queue was full and is empty now. More events may be queued for it.
      if (!isRefilled) enqueuing.begin({ atOnce: true })
      await enqueuing.ended()
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
