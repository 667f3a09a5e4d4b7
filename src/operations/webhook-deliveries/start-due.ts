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
/** A key takes at most half of the places that others leave, so that one key's slow receivers never take all. */
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
  // A receiver has ten seconds, so a delivery with an older claim belongs to a process that died.
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
 * Takes one delivery per subscription in turn, within the limits of its origin, its key and the whole. Keys, then
 * subscriptions, with the fewest deliveries in progress come first. An origin takes at most half of its key's share.
 */
async function chooseDue(db: Reader, now: number, underWay: DeliveriesUnderWay): Promise<Chosen[]> {
  const chosen: Chosen[] = []
  const subscriptions = await subscriptionsWithDue(db, now)
  subscriptions.sort(
    (a, b) =>
      underWay.sendingOf(keyOf(a)) - underWay.sendingOf(keyOf(b)) ||
      underWay.ofSubscription(a.id) - underWay.ofSubscription(b.id) ||
      a.seq - b.seq,
  )
  /** Deliveries taken by this look, in total and by key. */
  let taken = 0
  const takenByKey = new Map<string, number>()
  let granted = 0
  const limits = new Map<string, number>()
  let looked = 0
  // If a subscription had at most one delivery, the next fifty are looked at in one statement, up to `lookedUpTo`.
  let together: ReadonlyMap<string, readonly Queued[]> = NOTHING_READ
  let lookedUpTo = 0
  let hadLittle = false
  for (const [at, subscription] of subscriptions.entries()) {
    const origin = originOf(subscription.url)
    const key = keyOf(subscription)
    const own = underWay.sendingOf(key) + (takenByKey.get(key) ?? 0)
    const others = underWay.sending + taken - own
    const room = Math.ceil((DELIVERIES_OVERALL - others) / 2) - own
    const places = Math.min(DELIVERIES_PER_ORIGIN, Math.ceil(room / 2))
    let free = limits.get(origin)
    if (free === undefined) {
      // If the limits leave no place, nothing ends here, so a delivery claimed ahead would never be sent.
      const ahead = places > 0 ? underWay.ahead(origin, granted) : 0
      granted += ahead
      free = places - underWay.at(origin) + ahead
    }
    if (free <= 0) continue
    // Synchronous SQLite blocks requests while many subscriptions are examined, so this yields to them.
    if (++looked % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
    if (hadLittle && at >= lookedUpTo) {
      lookedUpTo = at + SUBSCRIPTIONS_PER_TURN
      const next = subscriptions.slice(at, lookedUpTo).filter(({ url }) => limits.get(originOf(url)) !== 0)
      together = await sendableAlone(db, idsWithoutRetries(next), now)
    }
    const due = together.get(subscription.id) ?? (await sendable(db, subscription, now, free))
    hadLittle = due.length <= 1
    limits.set(origin, free - due.length)
    const sent = Math.min(due.length, Math.max(0, places - underWay.at(origin)))
    taken += sent
    takenByKey.set(key, (takenByKey.get(key) ?? 0) + sent)
    for (const queued of due) chosen.push({ origin, queued, places })
  }
  return chosen
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
