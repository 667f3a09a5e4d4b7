/** Puts events into the queue of every subscription that wants them. */
import type { Services } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import {
  enqueueRange,
  lastSequence,
  moveCursor,
  type NewQueued,
  subscriptionsBehind,
} from '../../store/webhook-queue.ts'

type FanServices = Pick<Services, 'store' | 'clock'>
type Subscription = Pick<Row<'webhook_subscriptions'>, 'id' | 'enabled_events_json'>

/** Of one commit, so that no other write waits long for it. */
const EVENTS_PER_COMMIT = 2_000

/** Every active subscription up to the last event; what comes to one that is off waits until it is on again. */
export async function fanOut({ store, clock }: FanServices, signal?: AbortSignal): Promise<void> {
  const last = await lastSequence(store.db)
  for (;;) {
    const behind = await subscriptionsBehind(store.db, last)
    if (behind.length === 0) return
    for (const { id, cursor, enabled_events_json } of behind) {
      signal?.throwIfAborted()
      const to = Math.min(last, cursor + EVENTS_PER_COMMIT)
      await store.write(async (tx) => {
        if (!(await moveCursor(tx, id, cursor, to))) return
        const types = typesOf({ id, enabled_events_json })
        await enqueueRange(tx, { subscriptionId: id, types, after: cursor, to, now: clock.now() })
      })
    }
  }
}

/** Null: all. */
function typesOf({ enabled_events_json }: Subscription): string[] | null {
  const types: string[] = JSON.parse(enabled_events_json)
  return types.includes('*') ? null : types
}

/** As `enqueueRange` has it. */
export function wants(
  subscription: Subscription,
  { type, resource_id }: Pick<Row<'events'>, 'type' | 'resource_id'>,
): boolean {
  if (type === 'webhook.test_event') return resource_id === subscription.id
  return typesOf(subscription)?.includes(type) ?? true
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
