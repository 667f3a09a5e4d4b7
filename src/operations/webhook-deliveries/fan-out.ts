/** Puts events into the queue of every subscription that requested them. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../context.ts'
import { lastSequence } from '../../store/webhooks/cursors.ts'
import {
  type BehindSubscription,
  enqueueForAll,
  subscriptionsBehind,
  withBacklog,
} from '../../store/webhooks/fan-out.ts'

type FanServices = Pick<Services, 'store' | 'clock' | 'log'>

/** Limits for events, subscriptions and their product in one commit, so that other writes do not wait long. */
const EVENTS_PER_FAN_OUT = 500
const SUBSCRIPTIONS_PER_FAN_OUT = 200
const ROWS_PER_FAN_OUT = 1_000
/** While this many first attempts of a subscription are pending, no further events are queued for it. */
export const MOST_UNTRIED = 500

/**
 * Queues events for every active subscription as far as its receiver keeps up. Events for inactive ones wait. Returns
 * whether events remain for a receiver that does not keep up.
 */
export async function fanOut(services: FanServices, signal?: AbortSignal): Promise<boolean> {
  const { db } = services.store
  const last = await lastSequence(db)
  const left = new Set<string>()
  for (;;) {
    const behind = (await subscriptionsBehind(db, last)).filter(({ id }) => !left.has(id))
    if (behind.length === 0) return left.size > 0
    for (const { cursor, ids } of groupsAtOneCursor(behind)) {
      signal?.throwIfAborted()
      for (const id of await advance(services, { cursor, ids, last })) left.add(id)
      // Synchronous SQLite blocks requests while it works, so this yields to them.
      await nextTurn()
    }
  }
}

interface CursorGroup {
  cursor: number
  ids: readonly string[]
}

/** Subscriptions that keep up have the same cursor, so a few groups contain most of them. */
function groupsAtOneCursor(behind: readonly BehindSubscription[]): CursorGroup[] {
  const byCursor = new Map<number, string[]>()
  for (const { id, cursor } of behind) {
    const ids = byCursor.get(cursor)
    if (ids === undefined) byCursor.set(cursor, [id])
    else ids.push(id)
  }
  return [...byCursor].flatMap(([cursor, ids]) =>
    Array.from({ length: Math.ceil(ids.length / SUBSCRIPTIONS_PER_FAN_OUT) }, (_, n) => ({
      cursor,
      ids: ids.slice(n * SUBSCRIPTIONS_PER_FAN_OUT, (n + 1) * SUBSCRIPTIONS_PER_FAN_OUT),
    })),
  )
}

/** Returns the subscriptions for which events remain. */
async function advance(
  services: FanServices,
  { cursor, ids, last }: CursorGroup & { last: number },
): Promise<readonly string[]> {
  const { store, clock, log } = services
  try {
    const behindhand = await withBacklog(store.db, ids, MOST_UNTRIED)
    const ready = ids.filter((id) => !behindhand.has(id))
    if (ready.length > 0) {
      const events = Math.min(EVENTS_PER_FAN_OUT, Math.ceil(ROWS_PER_FAN_OUT / ready.length))
      const to = Math.min(last, cursor + events)
      await store.write((tx) => enqueueForAll(tx, ready, { after: cursor, to, now: clock.now() }))
    }
    return [...behindhand]
  } catch (error) {
    const [id] = ids
    if (ids.length === 1) {
      log.error({ err: error, subscription: id }, 'events could not be queued for a webhook subscription')
      return ids
    }
    // A subscription that fails now must not delay the others.
    const left: string[] = []
    for (const one of ids) left.push(...(await advance(services, { cursor, ids: [one], last })))
    return left
  }
}
