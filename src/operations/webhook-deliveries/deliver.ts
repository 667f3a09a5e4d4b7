/** Delivers due events to many receivers in parallel, so that none delays another. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pause } from '../../platform/timing.ts'
import {
  claimQueued,
  DELIVERIES_PER_ORIGIN,
  LONGEST_CLAIM_MS,
  type Queued,
  sendable,
  subscriptionsWithDue,
} from '../../store/webhooks/queue.ts'
import { changesSoFar, type SubscriptionRow } from '../../store/webhooks/subscriptions.ts'
import {
  type AttemptRound,
  attemptDelivery,
  type ClaimedDelivery,
  type DeliveryServices,
  readBodies,
} from './attempt.ts'
import { fillQueue } from './enqueuing.ts'
import { writeResults, writeUnlessBusy } from './results.ts'
import { sendWebhook } from './send.ts'

/** Longest time in which results are gathered, so that they share one write and their places are filled together. */
const GATHER_MS = 10
const DELIVER_ROUND_MS = 580_000
/** Time between two fillings of the queue if something is expected, and if only other daemons may have written events. */
const FILL_EVERY_MS = 50
const LOOK_EVERY_MS = 250
/** While the database is busy, claims are retried for this long. An older claim would not outlast its attempt. */
const CLAIM_FOR_MS = 2_000
const SUBSCRIPTIONS_PER_TURN = 50
/** A key gets at most half of the places that others leave free. So its slow receivers never fill all. */
const DELIVERIES_OVERALL = 512

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
  const signals = [signal, stopping].filter((each) => each !== undefined)
  const until = performance.now() + forMs
  const round: AttemptRound = { send, opened: new Map(), ended: [], large: Promise.resolve() }
  const underWay = new Set<Place>()
  const bell = new Bell()
  const positions = { replays: { after: 0 }, finality: {}, removals: { after: 0 } }
  const filler = new Filler(
    () => fillQueue(services, positions, ...signals),
    () => bell.ring(),
  )
  onWake?.(() => {
    filler.isWanted = true
    bell.ring()
  })
  const start = async (claimed: ClaimedDelivery, place: Place) => {
    underWay.add(place)
    await attemptDelivery(services, claimed, round).catch((error) => {
      const event = claimed.queued.event_id
      services.log.error({ err: error, event }, 'the result of a delivery could not be written')
    })
    underWay.delete(place)
    bell.ring()
  }
  let recording = Promise.resolve(0)
  const record = () => {
    recording = writeResults(services, round.ended.splice(0))
    return recording
  }
  try {
    for (let isIdle = true; ; ) {
      signal?.throwIfAborted()
      const isOver = stopping?.aborted === true || performance.now() >= until
      if (!isOver) filler.begin(isIdle)
      // A pass that runs during this look may queue deliveries that the look does not see.
      const wasFilling = filler.isRunning
      // New claims are committed together with the results of the deliveries whose places they take.
      const [recorded, started] = await Promise.all([record(), isOver ? 0 : startDue(services, underWay, start)])
      if (recorded > 0) {
        // The next events of the same resources are due now, and the receivers' queues have room.
        filler.isWanted = true
        continue
      }
      isIdle = started === 0 && underWay.size === 0 && round.ended.length === 0
      if (!isIdle || wasFilling) {
        await bell.wait(filler.pauseMs)
        const gatherUntil = performance.now() + GATHER_MS
        while (underWay.size > 0 && performance.now() < gatherUntil) await pause(1)
      } else if (isOver || !filler.isWanted) return
    }
  } finally {
    // Claims that failed did not wait for it.
    await recording
    while (underWay.size > 0 || round.ended.length > 0) {
      if ((await record()) === 0) await bell.wait(LOOK_EVERY_MS)
    }
    await filler.ended()
  }
}

/** Fills the queue beside the sending, one pass at a time, because many subscriptions and events take time. */
class Filler {
  readonly #fill: () => Promise<boolean>
  readonly #onEnd: () => void
  #running: Promise<void> | undefined
  #endedAt = Number.NEGATIVE_INFINITY
  #failure: { error: unknown } | undefined
  /** Whether another pass may find something: after a report of new events, a result, or a pass that left some. */
  isWanted = true

  /** `fill` returns whether another pass may find more at once. */
  constructor(fill: () => Promise<boolean>, onEnd: () => void) {
    this.#fill = fill
    this.#onEnd = onEnd
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Time after which `begin` should be called again, in milliseconds. */
  get pauseMs(): number {
    return this.isWanted ? FILL_EVERY_MS : LOOK_EVERY_MS
  }

  /** Starts a pass unless one runs or the last one is recent. Throws the error of the last pass. */
  begin(isIdle: boolean): void {
    if (this.#failure !== undefined) throw this.#failure.error
    const isRecent = performance.now() - this.#endedAt < this.pauseMs
    if (this.isRunning || (isRecent && !(isIdle && this.isWanted))) return
    this.isWanted = false
    this.#running = this.#pass()
  }

  async #pass(): Promise<void> {
    try {
      if (await this.#fill()) this.isWanted = true
    } catch (error) {
      this.#failure = { error }
    }
    this.#running = undefined
    this.#endedAt = performance.now()
    this.#onEnd()
  }

  /** Resolves when the current pass has ended. */
  async ended(): Promise<void> {
    await this.#running
  }
}

/** Wakes the round when a delivery or a pass has ended, or events are reported. */
class Bell {
  #hasRung = false
  #wake = () => {}

  /** Makes the current or the next wait resolve at once. */
  ring(): void {
    this.#hasRung = true
    this.#wake()
  }

  async wait(timeoutMs: number): Promise<void> {
    if (!this.#hasRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#hasRung = false
  }
}

/** Whom a delivery counts against: the origin of its receiver, the API key of its subscription, and the subscription. */
interface Place {
  origin: string
  key: string
  subscription: string
}

/** Counts the deliveries in progress, and how many more each receiver may get. */
class Places {
  readonly #counts = new Map<string, number>()

  constructor(underWay: Iterable<Place>) {
    for (const place of underWay) this.add(place)
  }

  ofKey = ({ key }: Place) => this.#of(`key ${key}`)
  ofSubscription = ({ subscription }: Place) => this.#of(`subscription ${subscription}`)

  /** An origin gets at most half of what its key has left, so that slow receivers of a key leave some to the others. */
  free(place: Place): number {
    const own = this.ofKey(place)
    const ofKey = Math.ceil((DELIVERIES_OVERALL - (this.#of('all') - own)) / 2) - own
    return Math.min(DELIVERIES_PER_ORIGIN, Math.ceil(ofKey / 2)) - this.#of(`origin ${place.origin}`)
  }

  add({ origin, key, subscription }: Place): void {
    for (const name of ['all', `origin ${origin}`, `key ${key}`, `subscription ${subscription}`])
      this.#counts.set(name, this.#of(name) + 1)
  }

  #of(name: string): number {
    return this.#counts.get(name) ?? 0
  }
}

/** Claims due deliveries and starts them. Returns their number. */
async function startDue(
  services: DeliveryServices,
  underWay: Iterable<Place>,
  start: (claimed: ClaimedDelivery, place: Place) => void,
): Promise<number> {
  const { store, clock } = services
  const asOf = changesSoFar()
  const chosen = await chooseDue(services, new Places(underWay))
  if (chosen.length === 0) return 0
  const now = clock.now()
  const claim = { now, until: now + LONGEST_CLAIM_MS }
  const queued = chosen.map((each) => each.queued)
  const seqs = queued.map(({ seq }) => seq)
  const [claimed, bodies] = await Promise.all([
    writeUnlessBusy(performance.now() + CLAIM_FOR_MS, () => store.write((tx) => claimQueued(tx, seqs, claim))),
    // An event that is too large to be read with the others is read at its attempt.
    readBodies(store.db, queued).catch(() => new Map<string, Buffer>()),
  ])
  for (const { subscription, queued, place } of chosen) {
    if (!claimed.has(queued.seq)) continue
    queued.claimed_until = claim.until
    start({ subscription, asOf, queued, body: bodies.get(queued.event_id) }, place)
  }
  return claimed.size
}

/**
 * Chooses due deliveries, one subscription after the other, as many as each receiver may get. Keys with the fewest
 * deliveries in progress come first, then such subscriptions.
 */
async function chooseDue(
  { store, clock }: DeliveryServices,
  places: Places,
): Promise<{ subscription: SubscriptionRow; queued: Queued; place: Place }[]> {
  const now = clock.now()
  const orders = (await subscriptionsWithDue(store.db, now)).map((subscription) => {
    const place = placeOf(subscription)
    return { subscription, place, ofKey: places.ofKey(place), ofSubscription: places.ofSubscription(place) }
  })
  // The oldest come first among equals.
  orders.sort((a, b) => a.ofKey - b.ofKey || a.ofSubscription - b.ofSubscription)
  const chosen: Awaited<ReturnType<typeof chooseDue>> = []
  let reads = 0
  for (const { subscription, place } of orders) {
    const free = places.free(place)
    if (free <= 0) continue
    // Synchronous SQLite blocks requests while many subscriptions are examined, so this yields to them.
    if (++reads % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
    for (const queued of await sendable(store.db, subscription, now, free)) {
      places.add(place)
      chosen.push({ subscription, queued, place: { ...place } })
    }
  }
  return chosen
}

const placeOf = ({ id, url, api_key_id }: SubscriptionRow): Place => ({
  origin: new URL(url).origin,
  key: api_key_id ?? '',
  subscription: id,
})
