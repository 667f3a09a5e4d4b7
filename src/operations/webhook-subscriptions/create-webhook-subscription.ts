/** Subscribes a URL to events. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { newId } from '../../store/id.ts'
import { lastSequence } from '../../store/webhook-cursors.ts'
import { insertWebhookSubscription } from '../../store/webhook-subscriptions.ts'
import { webhookSubscriptionRecord } from '../api-records.ts'
import { checkReceiver } from './check-receiver.ts'
import { enabledEventsJson } from './enabled-events.ts'
import { makeWebhookSecret } from './secret.ts'

type CreateWebhookSubscriptionRoute = Api['webhookSubscriptions']['create']

export async function createWebhookSubscription(
  context: Context,
  input: Input<CreateWebhookSubscriptionRoute>,
): Promise<Result<CreateWebhookSubscriptionRoute>> {
  await checkReceiver(context, input.url)
  const id = newId('whs')
  const { secret, columns } = makeWebhookSecret(context, id)
  const now = context.clock.now()
  return context.commit(async (tx) => {
    const stored = await insertWebhookSubscription(tx, {
      id,
      api_key_id: context.actor.apiKeyId,
      url: input.url,
      enabled_events_json: enabledEventsJson(input.enabled_events),
      active: 1,
      ...columns,
      disabled_reason: null,
      commitment: input.commitment,
      // A subscription starts with events from now on. Replays deliver earlier ones.
      cursor: await lastSequence(tx),
      created_at: now,
      updated_at: now,
    })
    return { ...webhookSubscriptionRecord(stored), secret }
  })
}
