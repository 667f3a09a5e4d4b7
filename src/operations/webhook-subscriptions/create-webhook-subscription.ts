/** Subscribes a URL to events. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { newId } from '../../store/id.ts'
import type { Tx } from '../../store/store.ts'
import { lastSequence } from '../../store/webhooks/cursors.ts'
import { countSubscriptions, insertWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { webhookSubscriptionRecord } from '../api-records.ts'
import { checkReceiver } from './check-receiver.ts'
import { enabledEventsJson } from './enabled-events.ts'
import { makeWebhookSecret } from './secret.ts'

type CreateWebhookSubscriptionRoute = Api['webhookSubscriptions']['create']

/** Throws bad_request, also if there are too many subscriptions; the message names the setting. */
export async function createWebhookSubscription(
  context: Context,
  input: Input<CreateWebhookSubscriptionRoute>,
): Promise<Result<CreateWebhookSubscriptionRoute>> {
  await checkReceiver(context, input.url)
  const id = newId('whs')
  const { secret, columns } = makeWebhookSecret(context, id)
  const now = context.clock.now()
  return context.commit(async (tx) => {
    await requireRoom(context, tx)
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

async function requireRoom({ actor, config: { values } }: Context, tx: Tx): Promise<void> {
  const { ofKey, ofAll } = await countSubscriptions(tx, actor.apiKeyId)
  const mostOfKey = actor.scopes.includes('*') ? Number.POSITIVE_INFINITY : values['webhooks.max-per-key']
  if (ofKey >= mostOfKey) {
    throw badRequest(
      `This API key has ${ofKey} webhook subscriptions, the maximum of the setting webhooks.max-per-key: delete one (DELETE /v2/webhook-subscriptions/{id}, \`svc webhooks delete\`), or ask the operator to raise the setting`,
      { details: { limit: 'webhooks.max-per-key', most: mostOfKey } },
    )
  }
  const most = values['webhooks.max']
  if (ofAll >= most) {
    throw badRequest(
      `This installation has ${ofAll} webhook subscriptions, the maximum of the setting webhooks.max: delete one (DELETE /v2/webhook-subscriptions/{id}, \`svc webhooks delete\`), or ask the operator to raise the setting`,
      { details: { limit: 'webhooks.max', most } },
    )
  }
}
