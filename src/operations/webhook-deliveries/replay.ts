/** Replays events since a time: queues them in limited steps, as far as the receiver keeps up. */
import type { Services } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { hasBacklog } from '../../store/webhooks/cursors.ts'
import { type DeliveryCommitment, type EventFilter, enqueueRange, nthEnabled } from '../../store/webhooks/enqueuing.ts'
import { moveReplay, replaysAfter, type WebhookReplay } from '../../store/webhooks/replays.ts'
import { findWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { MOST_UNTRIED } from './fan-out.ts'

type ReplayServices = Pick<Services, 'store' | 'clock' | 'log'>

/** Events that one step examines, which is also the most that it queues. */
const EVENTS_PER_REPLAY_STEP = 2_000
const ENQUEUED_PER_REPLAY_STEP = 1_000
const REPLAYS_PER_READ = 100
/** Longest time of one burst of replays, so that new events do not wait for old ones. */
const REPLAY_BURST_MS = 100

type ReplayPosition = Pick<
  WebhookReplay,
  'subscription_id' | 'since' | 'types_json' | 'come_to' | 'through' | 'last'
> & { commitment: DeliveryCommitment }

/**
 * Queues the next events, at most up to the sequence `until`. Returns their number, and the sequence that was reached.
 */
export async function replayStep(
  tx: Tx,
  { subscription_id: subscriptionId, since, types_json, come_to, through, last, commitment }: ReplayPosition,
  { now, until = last }: { now: number; until?: number },
): Promise<{ queued: number; through: number }> {
  // Events up to the subscription's cursor are queued again. Later ones are queued once, by the replay or by the
  // fan-out.
  const isPast = through < come_to
  const types: string[] | null = types_json === null ? null : JSON.parse(types_json)
  const range: EventFilter = {
    ...{ subscriptionId, types, since, now, commitment, after: through },
    to: Math.min(through + EVENTS_PER_REPLAY_STEP, until, last, ...(isPast ? [come_to] : [])),
    repeat: isPast ? 'anew' : 'once',
  }
  const to = (await nthEnabled(tx, range, ENQUEUED_PER_REPLAY_STEP)) ?? range.to
  return { queued: await enqueueRange(tx, { ...range, to }), through: to }
}

/** Runs a burst of steps for the replays that can continue. Returns true when some still can. */
export async function advanceReplays(services: ReplayServices, ...signals: readonly AbortSignal[]): Promise<boolean> {
  const until = performance.now() + REPLAY_BURST_MS
  const isOver = () => performance.now() >= until || signals.some(({ aborted }) => aborted)
  for (let moved = true; moved; ) {
    moved = false
    for (let after = 0; ; ) {
      const replays = await replaysAfter(services.store.db, after, REPLAYS_PER_READ)
      for (const replay of replays) {
        if (isOver()) return true
        moved = (await advanceReplay(services, replay)) || moved
        after = replay.seq
      }
      if (replays.length < REPLAYS_PER_READ) break
    }
  }
  return false
}

/** Returns false when the replay must wait for its receiver, or until its subscription is switched on. */
async function advanceReplay({ store, clock, log }: ReplayServices, replay: WebhookReplay): Promise<boolean> {
  try {
    const subscription = await findWebhookSubscription(store.db, replay.subscription_id)
    if (subscription?.active !== 1 || !(await isReceiverReady(store.db, subscription, replay))) return false
    return await store.write(async (tx) => {
      const { through } = await replayStep(
        tx,
        { ...replay, commitment: subscription.commitment },
        { now: clock.now(), until: subscription.cursor },
      )
      return moveReplay(tx, replay, through)
    })
  } catch (error) {
    // A replay that fails now must not delay the others.
    log.error({ err: error, subscription: replay.subscription_id }, 'a step of a replay failed')
    return false
  }
}

async function isReceiverReady(
  reader: Parameters<typeof hasBacklog>[0],
  subscription: Row<'webhook_subscriptions'>,
  { through }: WebhookReplay,
): Promise<boolean> {
  return through < subscription.cursor && !(await hasBacklog(reader, subscription, MOST_UNTRIED))
}
