/** Fills the delivery queue in limited steps: new events, replays and final events; and finishes removals. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import { lastSequence } from '../../store/events/events.ts'
import {
  enqueueNew,
  enqueueReplayed,
  MOST_BEHIND,
  moveReplay,
  nextReplay,
  subscriptionsBehind,
} from '../../store/webhooks/enqueuing.ts'
import {
  deleteRemoval,
  findWebhookSubscription,
  removalsAfter,
  removeRemains,
} from '../../store/webhooks/subscriptions.ts'
import { inSteps } from '../../store/writing/in-steps.ts'
import { type FinalityPosition, releaseFinal } from './finality.ts'

type EnqueuingServices = Pick<Services, 'store' | 'clock' | 'log'>

const isAborted = (signals: readonly AbortSignal[]) => signals.some(({ aborted }) => aborted)

/** Longest time of removals in one call, so that new events do not wait long for them. */
const REMOVE_FOR_MS = 100

/** The number of the row after which the next call continues, so that every row has its turn. */
export interface Position {
  after: number
}

/** Queues what can be queued now. Returns whether another call may find more at once. */
export async function fillQueue(
  services: EnqueuingServices,
  positions: { replays: Position; finality: FinalityPosition; removals: Position },
  ...signals: readonly AbortSignal[]
): Promise<boolean> {
  const isBehind = await fanOut(services, ...signals)
  const isReplaying = await advanceReplays(services, positions.replays, ...signals)
  const areReleased = await releaseFinal(services, positions.finality, ...signals)
  const limited = [...signals, AbortSignal.timeout(REMOVE_FOR_MS)]
  const areRemoved = await finishRemovals(services, positions.removals, ...limited)
  return isBehind || isReplaying || !areReleased || !areRemoved
}

/** Limits for events, and for their product with subscriptions, in one commit, so that other writes do not wait long. */
const EVENTS_PER_COMMIT = 500
const ROWS_PER_COMMIT = 1_000

/**
 * Queues the next events of every active subscription whose receiver keeps up. Events for others wait. Returns whether
 * more can be queued at once.
 */
export async function fanOut(
  { store, clock, log }: EnqueuingServices,
  ...signals: readonly AbortSignal[]
): Promise<boolean> {
  const last = await lastSequence(store.db)
  let isMore = false
  for (let seq = 0; !isAborted(signals); ) {
    const behind = await subscriptionsBehind(store.db, { last, after: seq })
    // Subscriptions that keep up have the same cursor, so a few groups contain most of them.
    for (const after of new Set(behind.map(({ cursor }) => cursor))) {
      const ids = behind.filter(({ cursor }) => cursor === after).map(({ id }) => id)
      const to = Math.min(last, after + EVENTS_PER_COMMIT, after + Math.ceil(ROWS_PER_COMMIT / ids.length))
      try {
        await store.write((tx) => enqueueNew(tx, ids, { after, to, now: clock.now() }))
        if (to < last) isMore = true
      } catch (error) {
        // What fails now must not delay other subscriptions, nor what is queued already.
        log.error(
          { err: error, subscriptions: ids.slice(0, 3) },
          'events could not be queued for webhook subscriptions',
        )
      }
      // Synchronous SQLite blocks requests while it works, so this yields to them.
      await nextTurn()
    }
    if (behind.length < MOST_BEHIND) break
    seq = behind.at(-1)?.seq ?? seq
  }
  return isMore
}

/** Steps of one call, each of another replay, so that new events do not wait long for old ones. */
const STEPS_PER_CALL = 10

/** Takes a step of the next replays that can continue. Returns whether another call may find more. */
export async function advanceReplays(
  { store, clock, log }: EnqueuingServices,
  position: Position,
  ...signals: readonly AbortSignal[]
): Promise<boolean> {
  // Those before the position are for the next call.
  let isMoved = position.after > 0
  for (let steps = 0; steps < STEPS_PER_CALL && !isAborted(signals); steps++) {
    const replay = await nextReplay(store.db, position.after)
    position.after = replay?.seq ?? 0
    if (replay === undefined) break
    try {
      const moves = store.write(async (tx) => {
        const subscription = await findWebhookSubscription(tx, replay.subscription_id)
        if (subscription === null) return false
        const { through } = await enqueueReplayed(tx, replay, { now: clock.now(), until: subscription.cursor })
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

/**
 * Deletes the queued deliveries and attempt records of removed subscriptions, in limited steps. Returns false if a
 * signal ended it before the last one.
 */
export async function finishRemovals(
  { store, clock }: Pick<Services, 'store' | 'clock'>,
  position: Position,
  ...signals: readonly AbortSignal[]
): Promise<boolean> {
  for (;;) {
    const removals = await removalsAfter(store.db, position.after, REMOVALS_PER_READ)
    for (const { seq, subscription_id, removed_at } of removals) {
      await inSteps(store, (tx, limit) => removeRemains(tx, subscription_id, limit), ...signals)
      if (isAborted(signals)) return false
      if (removed_at + SETTLED_MS <= clock.now()) await store.write((tx) => deleteRemoval(tx, seq))
      position.after = seq
    }
    if (removals.length < REMOVALS_PER_READ) break
  }
  position.after = 0
  return true
}
