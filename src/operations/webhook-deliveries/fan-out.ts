/** Puts events into the queue of every subscription that requested them. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import { hasBacklog, lastSequence, moveCursor, subscriptionsBehind } from '../../store/webhook-cursors.ts'
import { enqueueRange, type NewQueued } from '../../store/webhook-enqueuing.ts'

type FanServices = Pick<Services, 'store' | 'clock' | 'log'>
type EnabledEvents = Pick<Row<'webhook_subscriptions'>, 'enabled_events_json'>

/** Events in one commit, few enough that other writes do not wait long. */
const EVENTS_PER_FAN_OUT = 500
export const SUBSCRIPTIONS_PER_TURN = 50
/** While this many first attempts of a subscription are pending, its further events are not queued. */
export const MOST_UNTRIED = 500

/** Subscriptions whose events are queued at the same time; SQLite commits them together. */
const SUBSCRIPTIONS_AT_ONCE = 16

/**
 * Queues events for every active subscription, as far as its receiver keeps up. Those of an inactive one wait. Returns
 * whether some are left for a receiver that does not.
 */
export async function fanOut(services: FanServices, signal?: AbortSignal): Promise<boolean> {
  const { db } = services.store
  const last = await lastSequence(db)
  const left = new Set<string>()
  let looked = 0
  for (;;) {
    const behind = (await subscriptionsBehind(db, last)).filter(({ id }) => !left.has(id))
    if (behind.length === 0) return left.size > 0
    for (let from = 0; from < behind.length; from += SUBSCRIPTIONS_AT_ONCE) {
      signal?.throwIfAborted()
      const some = behind.slice(from, from + SUBSCRIPTIONS_AT_ONCE)
      // Synchronous SQLite blocks requests while many subscriptions are examined, so this yields to them.
      looked += some.length
      if (looked >= SUBSCRIPTIONS_PER_TURN) {
        looked = 0
        await nextTurn()
      }
      const advanced = await Promise.all(some.map((subscription) => advance(services, subscription, last)))
      for (const [i, { id }] of some.entries()) if (!advanced[i]) left.add(id)
    }
  }
}

/** Returns false for a subscription that is left for later. */
async function advance(
  { store, clock, log }: FanServices,
  subscription: Row<'webhook_subscriptions'>,
  last: number,
): Promise<boolean> {
  const { id, cursor } = subscription
  const to = Math.min(last, cursor + EVENTS_PER_FAN_OUT)
  try {
    if (await hasBacklog(store.db, subscription, MOST_UNTRIED)) return false
    await store.write(async (tx) => {
      if (!(await moveCursor(tx, id, cursor, to))) return
      const types = eventTypesOf(subscription)
      await enqueueRange(tx, { subscriptionId: id, types, after: cursor, to, now: clock.now() })
    })
    return true
  } catch (error) {
    // A subscription that fails now must not delay the others.
    log.error({ err: error, subscription: id }, 'events could not be queued for a webhook subscription')
    return false
  }
}

/** Returns the event types that a subscription requested, or null for all. */
export function eventTypesOf({ enabled_events_json }: EnabledEvents): string[] | null {
  const types: string[] = JSON.parse(enabled_events_json)
  return types.includes('*') ? null : types
}

export function queuedOf(
  subscription_id: string,
  {
    id,
    sequence,
    resource_type,
    resource_id,
  }: Pick<Row<'events'>, 'id' | 'sequence' | 'resource_type' | 'resource_id'>,
  now: number,
): NewQueued {
  return {
    subscription_id,
    event_id: id,
    sequence,
    resource: `${resource_type}:${resource_id}`,
    next_attempt_at: now,
  }
}
