/** Changes the URL or events of a subscription, or switches it; switching on clears the reason it was off. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { resumeHeld } from '../../store/webhook-queue.ts'
import { findWebhookSubscription, updateWebhookSubscription } from '../../store/webhook-subscriptions.ts'
import { found } from '../found.ts'
import { webhookSubscriptionRecord } from '../records.ts'
import { checkReceiver } from './check-receiver.ts'

type Route = Api['webhookSubscriptions']['update']

export async function updateWebhookSubscriptionById(context: Context, input: Input<Route>): Promise<Result<Route>> {
  const { id, url, enabled_events, active } = input
  if (url !== undefined) await checkReceiver(context, url)
  return context.commit(async (tx) => {
    found(await findWebhookSubscription(tx, id), 'webhook subscription', id)
    const stored = await updateWebhookSubscription(tx, id, {
      ...(url === undefined ? {} : { url }),
      ...(enabled_events === undefined ? {} : { enabled_events_json: JSON.stringify(enabled_events) }),
      ...(active === undefined
        ? {}
        : { active: active ? 1 : 0, disabled_reason: active ? null : 'switched off by request' }),
      updated_at: context.clock.now(),
    })
    // After the subscription, whose row an attempt that is ending waits for: nothing is held back behind this.
    if (active) await resumeHeld(tx, id, context.clock.now())
    return webhookSubscriptionRecord(stored!)
  })
}
