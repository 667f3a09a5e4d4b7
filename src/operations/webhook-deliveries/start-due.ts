/** Claims due deliveries, fairly between origins and subscriptions, and passes them on to be sent. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../store/store.ts'
import {
  claimQueued,
  type DueSubscription,
  LONGEST_CLAIM_MS,
  type Queued,
  sendable,
  sendableAlone,
  subscriptionsWithDue,
} from '../../store/webhooks/queue.ts'
import { changesSoFar } from '../../store/webhooks/subscription-changes.ts'
import { findWebhookSubscriptions } from '../../store/webhooks/subscriptions.ts'
import type { ClaimedDelivery, DeliveryServices } from './attempt.ts'
import { writeUnlessBusy } from './busy-database.ts'
import type { DeliveriesUnderWay } from './deliveries-under-way.ts'
import type { EventBodies } from './event-bodies.ts'

/** While the database is busy, claims are retried for this long. An older claim would not outlast its attempt. */
const CLAIM_FOR_MS = 2_000
const SUBSCRIPTIONS_PER_TURN = 50
const DELIVERIES_PER_ORIGIN = 32
/** A key gets at most half of the places that others leave free. So its slow receivers never fill all. */
const DELIVERIES_OVERALL = 512

interface Round {
  underWay: DeliveriesUnderWay
  bodies: EventBodies
  /** Sends the delivery if fewer than `places` of its origin are being sent, otherwise later. */
  start(claimed: ClaimedDelivery, origin: string, places: number): void
}

interface Chosen {
  origin: string
  queued: Queued
  places: number
}

/** Returns the number of started deliveries. */
export async function startDue({ store, clock }: DeliveryServices, round: Round): Promise<number> {
  const asOf = changesSoFar()
  const chosen = await chooseDue(store.db, clock.now(), round.underWay)
  if (chosen.length === 0) return 0
  const now = clock.now()
  const claim = { now, until: now + LONGEST_CLAIM_MS }
  const queued = chosen.map((each) => each.queued)
  const seqs = queued.map(({ seq }) => seq)
  const [claimed, subscriptions, bodies] = await Promise.all([
    writeUnlessBusy(performance.now() + CLAIM_FOR_MS, () => store.write((tx) => claimQueued(tx, seqs, claim))),
    findWebhookSubscriptions(store.db, [...new Set(queued.map((each) => each.subscription_id))]),
    // An event that is too large to be read with the others is read at its attempt.
    round.bodies.read(store.db, queued).catch(() => new Map<string, Buffer>()),
  ])
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]))
  let started = 0
  for (const { origin, queued, places } of chosen) {
    if (!claimed.has(queued.seq)) continue
    started++
    queued.claimed_until = claim.until
    const subscription = byId.get(queued.subscription_id)
    // The subscription was removed meanwhile, with its queue.
    if (subscription === undefined) continue
    round.start({ subscription, asOf, queued, body: bodies.get(queued.event_id) }, origin, places)
  }
  return started
}

/**
 * Chooses due deliveries, one subscription after the other, within the limits of `Places`. Keys with the fewest
 * deliveries in progress come first, then such subscriptions.
 */
async function chooseDue(db: Reader, now: number, underWay: DeliveriesUnderWay): Promise<Chosen[]> {
  const subscriptions = await subscriptionsWithDue(db, now)
  subscriptions.sort(
    (a, b) =>
      underWay.sendingOf(keyOf(a)) - underWay.sendingOf(keyOf(b)) ||
      underWay.ofSubscription(a.id) - underWay.ofSubscription(b.id) ||
      a.seq - b.seq,
  )
  const places = new Places(underWay)
  const reader = new DueReader(db, now, subscriptions)
  const chosen: Chosen[] = []
  for (const [at, subscription] of subscriptions.entries()) {
    const origin = originOf(subscription.url)
    const offer = places.offer(origin, keyOf(subscription))
    if (offer.free <= 0) continue
    const due = await reader.read(at, offer.free, ({ url }) => places.isFull(originOf(url)))
    places.take(origin, keyOf(subscription), offer, due.length)
    for (const queued of due) chosen.push({ origin, queued, places: offer.atOnce })
  }
  return chosen
}

/** What an origin may take: `free` more deliveries. At most `atOnce` are sent to it at the same time. */
interface Offer {
  free: number
  atOnce: number
}

/**
 * Counts the places in use: deliveries in progress, and those chosen in this look. An origin gets half of its key's
 * places.
 */
class Places {
  readonly #underWay: DeliveriesUnderWay
  #taken = 0
  #ahead = 0
  readonly #takenByKey = new Map<string, number>()
  readonly #left = new Map<string, number>()

  constructor(underWay: DeliveriesUnderWay) {
    this.#underWay = underWay
  }

  offer(origin: string, key: string): Offer {
    const own = this.#underWay.sendingOf(key) + this.#takenBy(key)
    const others = this.#underWay.sending + this.#taken - own
    const ofKey = Math.ceil((DELIVERIES_OVERALL - others) / 2) - own
    const atOnce = Math.min(DELIVERIES_PER_ORIGIN, Math.ceil(ofKey / 2))
    return { atOnce, free: this.#left.get(origin) ?? this.#firstOffer(origin, atOnce) }
  }

  take(origin: string, key: string, { free, atOnce }: Offer, count: number): void {
    this.#left.set(origin, free - count)
    const sent = Math.min(count, Math.max(0, atOnce - this.#underWay.at(origin)))
    this.#taken += sent
    this.#takenByKey.set(key, this.#takenBy(key) + sent)
  }

  isFull(origin: string): boolean {
    return this.#left.get(origin) === 0
  }

  #takenBy(key: string): number {
    return this.#takenByKey.get(key) ?? 0
  }

  #firstOffer(origin: string, atOnce: number): number {
    // Without a place no delivery ends here. One claimed ahead would then never start.
    const ahead = atOnce > 0 ? this.#underWay.ahead(origin, this.#ahead) : 0
    this.#ahead += ahead
    return atOnce - this.#underWay.at(origin) + ahead
  }
}

/** Reads due deliveries. Subscriptions with few of them are read fifty at a time. */
class DueReader {
  readonly #db: Reader
  readonly #now: number
  readonly #subscriptions: readonly DueSubscription[]
  #reads = 0
  #hadLittle = false
  #together: ReadonlyMap<string, readonly Queued[]> = NOTHING_READ
  #togetherUpTo = 0

  constructor(db: Reader, now: number, subscriptions: readonly DueSubscription[]) {
    this.#db = db
    this.#now = now
    this.#subscriptions = subscriptions
  }

  /** At most `limit` deliveries of the subscription at this place. */
  async read(
    at: number,
    limit: number,
    isFull: (subscription: DueSubscription) => boolean,
  ): Promise<readonly Queued[]> {
    // Synchronous SQLite blocks requests while many subscriptions are examined, so this yields to them.
    if (++this.#reads % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
    if (this.#hadLittle && at >= this.#togetherUpTo) {
      this.#togetherUpTo = at + SUBSCRIPTIONS_PER_TURN
      const next = this.#subscriptions.slice(at, this.#togetherUpTo).filter((subscription) => !isFull(subscription))
      this.#together = await sendableAlone(this.#db, idsWithoutRetries(next), this.#now)
    }
    const subscription = this.#subscriptions[at] as DueSubscription
    const due = this.#together.get(subscription.id) ?? (await sendable(this.#db, subscription, this.#now, limit))
    this.#hadLittle = due.length <= 1
    return due
  }
}

const keyOf = ({ api_key_id }: DueSubscription): string => api_key_id ?? ''

const NOTHING_READ: ReadonlyMap<string, readonly Queued[]> = new Map()

const idsWithoutRetries = (subscriptions: readonly DueSubscription[]): string[] =>
  subscriptions.filter(({ has_retries }) => has_retries === 0).map(({ id }) => id)

const origins = new Map<string, string>()
const MOST_ORIGINS = 10_000

/** Origins are cached, because every look needs them for all subscriptions with due deliveries. */
function originOf(url: string): string {
  let origin = origins.get(url)
  if (origin === undefined) {
    if (origins.size >= MOST_ORIGINS) origins.clear()
    origin = new URL(url).origin
    origins.set(url, origin)
  }
  return origin
}
