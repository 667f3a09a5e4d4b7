/** Fills the delivery queue beside the sending, because many subscriptions and events take time. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { lastSequence } from '../../store/events/events.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import {
  type BehindSubscription,
  enqueueForAll,
  eventsBetween,
  isEnabledFor,
  MOST_BEHIND,
  moveReplay,
  nextReplay,
  queueUnattempted,
  requeueEvents,
  subscriptionsBehind,
} from '../../store/webhooks/enqueuing.ts'
import {
  deleteRemoval,
  findWebhookSubscription,
  removalsAfter,
  removeRemains,
  type SubscriptionRow,
} from '../../store/webhooks/subscriptions.ts'
import {
  eventsAt,
  finalizedSlot,
  releaseUnfinal,
  removeUnfinal,
  type TransactionEnd,
  transactionEnds,
  unfinalDeliveries,
} from '../../store/webhooks/unfinal.ts'
import { inSteps } from '../../store/writing/in-steps.ts'

// Releases events to subscriptions that want final ones once their transactions are final, and cancels those that a
// fork has undone.

const DELIVERIES_PER_LOOK = 500
/** Pages of one pass, so that new events are queued between passes. */
const PAGES_PER_PASS = 10
/** Time in which a dropped transaction may land again. It is longer than the life of a blockhash. */
const LANDS_AGAIN_MS = 10 * MINUTE_MS
/** Age at which a reading of accounts counts as final if no daemon reads the chain's final slot. */
const OLD_READING_MS = 2 * MINUTE_MS

type FinalEvent = Awaited<ReturnType<typeof eventsAt>>[number]

export interface FinalityFacts {
  /** Result of the event's own transaction; undefined if unknown. */
  end: TransactionEnd | undefined
  finalSlot: number
  now: number
}

/** The signature and slot at which the chain shows the event's content. */
function evidenceIn({ resource_type, resource_id, object_json }: FinalEvent): {
  signature: string | null
  slot: number | null
} {
  if (resource_type === 'transaction') return { signature: resource_id, slot: null }
  const { signature, slot } = JSON.parse(object_json) as { signature?: unknown; slot?: unknown }
  return {
    signature: typeof signature === 'string' ? signature : null,
    slot: typeof slot === 'number' ? slot : null,
  }
}

/** Whether the event may be sent as final now, never, or later. */
export function finalityOf(event: FinalEvent, { end, finalSlot, now }: FinalityFacts): 'final' | 'undone' | 'open' {
  if (event.type === 'transaction.submitted') return 'final'
  const age = now - event.created_at
  if (end === 'open') return 'open'
  if (end === 'gone') return age > LANDS_AGAIN_MS ? 'undone' : 'open'
  // The transaction may succeed on one fork and fail on another. Only the final result is sent.
  if (end !== undefined) return (end === 'failed') === (event.type === 'transaction.failed') ? 'final' : 'undone'
  const { slot } = evidenceIn(event)
  return slot === null || slot <= finalSlot || age > OLD_READING_MS ? 'final' : 'open'
}

/** Where a look at the deliveries continues, and the resources with an earlier delivery that still waits. */
interface FinalityLook {
  after: number
  blocked: Set<string>
}

const newLook = (): FinalityLook => ({ after: 0, blocked: new Set() })

/**
 * Looks at deliveries that wait for finality, in the order of events. Deliveries of one resource keep their order.
 * Ends after some pages, or between two once the signal is aborted, and returns where the next call continues.
 */
export async function releaseFinal(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  look: FinalityLook = newLook(),
  ...signals: readonly AbortSignal[]
): Promise<FinalityLook> {
  let { after } = look
  let limit = DELIVERIES_PER_LOOK
  for (let page = 0; page < PAGES_PER_PASS; page++) {
    if (signals.some(({ aborted }) => aborted)) break
    const rows = await unfinalDeliveries(store.db, after, limit)
    const last = rows.at(-1)
    if (last === undefined) return newLook()
    if (rows.length === limit && last.sequence === rows[0]?.sequence) {
      // One event fills the page. A later event may be released only if all deliveries of this one were seen.
      limit *= 2
      continue
    }
    const { released, undone } = await decided(store.db, rows, look.blocked, clock.now())
    if (released.length > 0 || undone.length > 0) {
      await store.write(async (tx) => {
        await releaseUnfinal(tx, released, clock.now())
        await removeUnfinal(tx, undone)
      })
    }
    if (rows.length < limit) return newLook()
    // Deliveries of one event to several subscriptions may span two pages.
    after = last.sequence - 1
    limit = DELIVERIES_PER_LOOK
  }
  return { after, blocked: look.blocked }
}

async function decided(
  reader: Services['store']['db'],
  rows: Awaited<ReturnType<typeof unfinalDeliveries>>,
  blocked: Set<string>,
  now: number,
): Promise<{ released: number[]; undone: number[] }> {
  const events = await eventsAt(reader, [...new Set(rows.map(({ sequence }) => sequence))])
  const bySequence = new Map(events.map((event) => [event.sequence, event]))
  const signatures = events.flatMap((event) => evidenceIn(event).signature ?? [])
  const ends = await transactionEnds(reader, [...new Set(signatures)])
  const finalSlot = await finalizedSlot(reader)
  const [released, undone]: [number[], number[]] = [[], []]
  for (const { seq, subscription_id, resource, sequence, commitment } of rows) {
    const key = `${subscription_id} ${resource}`
    const event = bySequence.get(sequence)
    // Without the event its delivery ends. A subscription that no longer wants final events does not wait.
    const finality =
      event === undefined ? 'undone' : commitment === 'confirmed' ? 'final' : finalityOf(event, facts(event))
    if (finality === 'undone') undone.push(seq)
    else if (finality === 'final' && !blocked.has(key)) released.push(seq)
    else blocked.add(key)
  }
  return { released, undone }

  function facts(event: FinalEvent): FinalityFacts {
    const { signature } = evidenceIn(event)
    return { end: signature === null ? undefined : ends.get(signature), finalSlot, now }
  }
}

type EnqueuingServices = Pick<Services, 'store' | 'clock' | 'log'>

/** Shortest time between two passes if something is expected, and longest if other daemons may have written events. */
const FILL_EVERY_MS = 50
const LOOK_EVERY_MS = 250

/** Runs passes that fill the queue, one at a time. */
export class QueueFiller {
  readonly #services: EnqueuingServices
  readonly #signals: readonly AbortSignal[]
  readonly #onEnd: () => void
  #running: Promise<void> | undefined
  #endedAt = Number.NEGATIVE_INFINITY
  #failure: { error: unknown } | undefined
  #look = newLook()
  /** Whether another pass may find something: after a report of new events, a result, or a pass that left some. */
  isWanted = true

  constructor(services: EnqueuingServices, signals: readonly AbortSignal[], onEnd: () => void) {
    this.#services = services
    this.#signals = signals
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
  begin({ isIdle }: { isIdle: boolean }): void {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.isRunning) return
    const isRecent = performance.now() - this.#endedAt < this.pauseMs
    if (isRecent && !(isIdle && this.isWanted)) return
    this.isWanted = false
    this.#running = this.#pass()
      .catch((error) => {
        this.#failure = { error }
      })
      .finally(() => {
        this.#running = undefined
        this.#endedAt = performance.now()
        this.#onEnd()
      })
  }

  /** Resolves when the current pass has ended. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #pass(): Promise<void> {
    if (await fanOut(this.#services, ...this.#signals)) this.isWanted = true
    if (await advanceReplays(this.#services, ...this.#signals)) this.isWanted = true
    this.#look = await releaseFinal(this.#services, this.#look, ...this.#signals)
    if (this.#look.after > 0) this.isWanted = true
    await finishRemovals(this.#services, ...this.#signals)
  }
}

const isAborted = (signals: readonly AbortSignal[]) => signals.some(({ aborted }) => aborted)

/** Limits for events, and for their product with subscriptions, in one commit, so that other writes do not wait long. */
const EVENTS_PER_FAN_OUT = 500
const ROWS_PER_FAN_OUT = 1_000

/**
 * Queues the next events of every active subscription whose receiver keeps up. Events for others wait. Returns whether
 * more can be queued at once.
 */
export async function fanOut(services: EnqueuingServices, ...signals: readonly AbortSignal[]): Promise<boolean> {
  const { db } = services.store
  const last = await lastSequence(db)
  let isMore = false
  for (let after = 0; !isAborted(signals); ) {
    const behind = await subscriptionsBehind(db, { last, after })
    // Subscriptions that keep up have the same cursor, so a few groups contain most of them.
    const cursors = new Set(behind.map(({ cursor }) => cursor))
    for (const cursor of cursors) {
      const group = behind.filter((subscription) => subscription.cursor === cursor)
      if (await advance(services, group, last)) isMore = true
      // Synchronous SQLite blocks requests while it works, so this yields to them.
      await nextTurn()
    }
    if (behind.length < MOST_BEHIND) break
    after = behind.at(-1)?.seq ?? after
  }
  return isMore
}

/** Queues the next events for subscriptions at one cursor. Returns whether they have more. */
async function advance(
  services: EnqueuingServices,
  group: readonly BehindSubscription[],
  last: number,
): Promise<boolean> {
  const { store, clock, log } = services
  const ids = group.map(({ id }) => id)
  const after = group[0]?.cursor ?? last
  const to = Math.min(last, after + EVENTS_PER_FAN_OUT, after + Math.ceil(ROWS_PER_FAN_OUT / ids.length))
  try {
    await store.write((tx) => enqueueForAll(tx, ids, { after, to, now: clock.now() }))
    return to < last
  } catch (error) {
    if (group.length === 1) {
      log.error({ err: error, subscription: ids[0] }, 'events could not be queued for a webhook subscription')
      return false
    }
    // A subscription that fails now must not delay the others.
    let isMore = false
    for (const one of group) if (await advance(services, [one], last)) isMore = true
    return isMore
  }
}

/** Events that one step of a replay examines, and the most that it queues. */
const EVENTS_PER_REPLAY_STEP = 2_000
const ENQUEUED_PER_REPLAY_STEP = 1_000
/** Longest time of one burst of replays, so that new events do not wait for old ones. */
const REPLAY_BURST_MS = 100

type ReplayPosition = Pick<
  Row<'webhook_replays'>,
  'subscription_id' | 'since' | 'types_json' | 'come_to' | 'through' | 'last'
> &
  Pick<SubscriptionRow, 'commitment'>

/**
 * Queues the next events, at most up to the sequence `until`. Returns their number, and the sequence that was reached.
 */
export async function replayStep(
  tx: Tx,
  { subscription_id: id, since, types_json, come_to, through, last, commitment }: ReplayPosition,
  { now, until = last }: { now: number; until?: number },
): Promise<{ queued: number; through: number }> {
  // Events up to the subscription's cursor are queued again. Later ones are queued once, by the replay or by the
  // fan-out.
  const isPast = through < come_to
  const types: string[] | null = types_json === null ? null : JSON.parse(types_json)
  const to = Math.min(through + EVENTS_PER_REPLAY_STEP, until, last, ...(isPast ? [come_to] : []))
  const events = await eventsBetween(tx, { after: through, to })
  const wanted = events.filter((event) => event.created_at >= since && isEnabledFor(id, types, event))
  const some = wanted.slice(0, ENQUEUED_PER_REPLAY_STEP)
  const queued = await (isPast ? requeueEvents : queueUnattempted)(tx, { id, commitment }, some, now)
  return { queued, through: some.length < wanted.length ? (some.at(-1)?.sequence ?? to) : to }
}

/** Runs a burst of steps for the replays that can continue, one each. Returns true when some still can. */
export async function advanceReplays(
  services: EnqueuingServices,
  ...signals: readonly AbortSignal[]
): Promise<boolean> {
  const { store, clock, log } = services
  const until = performance.now() + REPLAY_BURST_MS
  let isMoved = false
  for (let after = 0; !isAborted(signals); ) {
    if (performance.now() >= until) return true
    const replay = await nextReplay(store.db, after)
    if (replay === undefined) break
    after = replay.seq
    try {
      const moves = store.write(async (tx) => {
        const subscription = await findWebhookSubscription(tx, replay.subscription_id)
        if (subscription === null) return false
        const { commitment, cursor } = subscription
        const { through } = await replayStep(tx, { ...replay, commitment }, { now: clock.now(), until: cursor })
        return moveReplay(tx, replay, through)
      })
      if (await moves) isMoved = true
    } catch (error) {
      // A replay that fails now must not delay the others.
      log.error({ err: error, subscription: replay.subscription_id }, 'a step of a replay failed')
    }
  }
  return isMoved
}

/** Time after which attempts that were in progress at the removal are recorded. */
const SETTLED_MS = 60_000
const REMOVALS_PER_READ = 100

/** Deletes the queued deliveries and attempt records of removed subscriptions, in limited steps. */
export async function finishRemovals(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  ...signals: readonly AbortSignal[]
): Promise<void> {
  for (let after = 0; ; ) {
    const removals = await removalsAfter(store.db, after, REMOVALS_PER_READ)
    for (const { seq, subscription_id, removed_at } of removals) {
      await inSteps(store, (tx, limit) => removeRemains(tx, subscription_id, limit), ...signals)
      if (isAborted(signals)) return
      if (removed_at + SETTLED_MS <= clock.now()) await store.write((tx) => deleteRemoval(tx, seq))
      after = seq
    }
    if (removals.length < REMOVALS_PER_READ) return
  }
}
