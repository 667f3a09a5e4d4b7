/** Changes the URL or events of a subscription, or switches it on or off. A request without a change writes nothing. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { resumeHeld } from '../../store/webhooks/outcomes.ts'
import { BY_REQUEST, lockWebhookSubscription, updateWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { requireRecord, webhookSubscriptionRecord } from '../api-records.ts'
import { checkReceiver } from './check-receiver.ts'
import { enabledEventsJson } from './enabled-events.ts'
import { ownSubscription } from './owned.ts'

type UpdateWebhookSubscriptionRoute = Api['webhookSubscriptions']['update']

export async function updateWebhookSubscriptionById(
  context: Context,
  input: Input<UpdateWebhookSubscriptionRoute>,
): Promise<Result<UpdateWebhookSubscriptionRoute>> {
  const { id, url, enabled_events, active, commitment } = input
  await ownSubscription(context, context.store.db, id)
  if (url !== undefined) await checkReceiver(context, url)
  return context.commit(async (tx) => {
    const before = requireRecord(await lockWebhookSubscription(tx, id), 'webhook subscription', id)
    const moves = url !== undefined && url !== before.url
    const switches = active !== undefined && active !== (before.active === 1)
    const events = enabled_events === undefined ? before.enabled_events_json : enabledEventsJson(enabled_events)
    const commits = commitment !== undefined && commitment !== before.commitment
    if (!moves && !switches && !commits && events === before.enabled_events_json)
      return webhookSubscriptionRecord(before)
    const stored = await updateWebhookSubscription(tx, id, {
      ...(moves ? { url } : {}),
      ...(commits ? { commitment } : {}),
      ...(switches ? { active: active ? 1 : 0, disabled_reason: active ? null : BY_REQUEST } : {}),
      enabled_events_json: events,
      receiver_revision: before.receiver_revision + (moves || (switches && active) ? 1 : 0),
      updated_at: context.clock.now(),
    })
    // The subscription's row is locked, and ending attempts wait for it, so that no delivery is put on hold after
    // this.
    if (switches && active) await resumeHeld(tx, id, context.clock.now())
    return webhookSubscriptionRecord(requireRecord(stored, 'webhook subscription', id))
  })
}
