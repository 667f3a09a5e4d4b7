/** Claims what is due, fairly between origins and subscriptions, and hands it to the sending. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../store/store.ts'
import {
  claimQueued,
  LONGEST_CLAIM_MS,
  type Queued,
  sendable,
  subscriptionsWithDue,
} from '../../store/webhook-queue.ts'
import type { SubscriptionRow } from '../../store/webhook-subscriptions.ts'
import type { ClaimedDelivery, DeliveryServices } from './attempt.ts'
import { writeUnlessBusy } from './busy-database.ts'
import type { DeliveriesUnderWay } from './deliveries-under-way.ts'
import type { EventBodies } from './event-bodies.ts'
import { SUBSCRIPTIONS_PER_TURN } from './fan-out.ts'

/** Claims are made again for so long while the database is busy; an older one would not outlast its attempt. */
const CLAIM_FOR_MS = 2_000
const DELIVERIES_PER_ORIGIN = 32
const DELIVERIES_OVERALL = 256

interface Round {
  underWay: DeliveriesUnderWay
  bodies: EventBodies
  /** Sends the delivery while fewer than `places` of its origin are being sent, and otherwise later. */
  start(claimed: ClaimedDelivery, origin: string, places: number): void
}

interface Chosen {
  subscription: SubscriptionRow
  origin: string
  queued: Queued
  places: number
}

/** Returns the number of started deliveries. */
export async function startDue({ store, clock }: DeliveryServices, round: Round): Promise<number> {
  const chosen = await chooseDue(store.db, clock.now(), round.underWay)
  if (chosen.length === 0) return 0
  // A receiver has ten seconds, so a delivery with an older claim belonged to a process that died.
  const now = clock.now()
  const claim = { now, until: now + LONGEST_CLAIM_MS }
  const queued = chosen.map((each) => each.queued)
  const seqs = queued.map(({ seq }) => seq)
  const [claimed, bodies] = await Promise.all([
    writeUnlessBusy(performance.now() + CLAIM_FOR_MS, () => store.write((tx) => claimQueued(tx, seqs, claim))),
    // What cannot be read with the others is read alone at its attempt.
    round.bodies.read(store.db, queued).catch(() => new Map<string, Buffer>()),
  ])
  let started = 0
  for (const { subscription, origin, queued, places } of chosen) {
    if (!claimed.has(queued.seq)) continue
    const body = bodies.get(queued.event_id)
    round.start({ subscription, queued: { ...queued, claimed_until: claim.until }, body }, origin, places)
    started++
  }
  return started
}

/**
 * Takes one turn per subscription, those with the fewest deliveries under way first, within the limits of its origin and
 * of all. An origin never takes more than half of the remaining places.
 */
async function chooseDue(db: Reader, now: number, underWay: DeliveriesUnderWay): Promise<Chosen[]> {
  const chosen: Chosen[] = []
  const subscriptions = await subscriptionsWithDue(db, now)
  subscriptions.sort((a, b) => underWay.ofSubscription(a.id) - underWay.ofSubscription(b.id) || a.seq - b.seq)
  let room = DELIVERIES_OVERALL - underWay.sending
  let granted = 0
  const limits = new Map<string, number>()
  for (const [i, subscription] of subscriptions.entries()) {
    // Synchronous SQLite blocks requests while many subscriptions are examined, so this yields to them.
    if ((i + 1) % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
    const origin = originOf(subscription)
    const places = Math.min(DELIVERIES_PER_ORIGIN, Math.ceil(room / 2))
    let free = limits.get(origin)
    if (free === undefined) {
      // Where no place is left nothing ends, so what is claimed ahead would never be sent.
      const ahead = places > 0 ? underWay.ahead(origin, granted) : 0
      granted += ahead
      free = places - underWay.at(origin) + ahead
    }
    if (free <= 0) continue
    const due = await sendable(db, subscription, now, free)
    limits.set(origin, free - due.length)
    room -= Math.min(due.length, Math.max(0, places - underWay.at(origin)))
    for (const queued of due) chosen.push({ subscription, origin, queued, places })
  }
  return chosen
}

const originOf = ({ url }: SubscriptionRow): string => new URL(url).origin
