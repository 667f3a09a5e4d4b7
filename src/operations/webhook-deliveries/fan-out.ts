/** Puts events into the queue of every subscription that requested them. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import { enqueueRange, type NewQueued } from '../../store/webhook-enqueuing.ts'
import { hasBacklog, lastSequence, moveCursor, subscriptionsBehind } from '../../store/webhook-queue.ts'

type FanServices = Pick<Services, 'store' | 'clock' | 'log'>
type EnabledEvents = Pick<Row<'webhook_subscriptions'>, 'enabled_events_json'>

/** Events in one commit, few enough that other writes do not wait long. */
const EVENTS_PER_FAN_OUT = 500
export const SUBSCRIPTIONS_PER_TURN = 50
/** While this many first attempts of a subscription are pending, its further events are not queued. */
export const MOST_UNTRIED = 500

/** Queues events for every active subscription, as far as its receiver keeps up. Those of an inactive one wait. */
export async function fanOut({ store, clock, log }: FanServices, signal?: AbortSignal): Promise<void> {
  const last = await lastSequence(store.db)
  const left = new Set<string>()
  let looked = 0
  for (;;) {
    const behind = (await subscriptionsBehind(store.db, last)).filter(({ id }) => !left.has(id))
    if (behind.length === 0) return
    for (const subscription of behind) {
      signal?.throwIfAborted()
      // Synchronous SQLite blocks requests while many subscriptions are examined, so this yields to them.
      if (++looked % SUBSCRIPTIONS_PER_TURN === 0) await nextTurn()
      const { id, cursor } = subscription
      const to = Math.min(last, cursor + EVENTS_PER_FAN_OUT)
      try {
        if (await hasBacklog(store.db, subscription, MOST_UNTRIED)) {
          left.add(id)
          continue
        }
        await store.write(async (tx) => {
          if (!(await moveCursor(tx, id, cursor, to))) return
          await enqueueRange(tx, {
            subscriptionId: id,
            types: eventTypesOf(subscription),
            after: cursor,
            to,
            now: clock.now(),
          })
        })
      } catch (error) {
        // A subscription that fails now must not delay the others.
        left.add(id)
        log.error({ err: error, subscription: id }, 'events could not be queued for a webhook subscription')
      }
    }
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
