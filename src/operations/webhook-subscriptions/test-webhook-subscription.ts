/** Emits `webhook.test_event`, addressed to one subscription. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { newId } from '../../store/id.ts'
import { eventRecord, webhookSubscriptionRecord } from '../api-records.ts'
import { emit } from '../emit.ts'
import { ownSubscription } from './owned.ts'

type TestWebhookSubscriptionRoute = Api['webhookSubscriptions']['test']

export async function testWebhookSubscription(
  context: Context,
  { id }: Input<TestWebhookSubscriptionRoute>,
): Promise<Result<TestWebhookSubscriptionRoute>> {
  return context.commit(async (tx) => {
    const subscription = await ownSubscription(context, tx, id)
    const event = await emit(context, tx, {
      type: 'webhook.test_event',
      resource_type: 'webhook_subscription',
      resource_id: id,
      object: webhookSubscriptionRecord(subscription),
      occasion: newId('test'),
    })
    return eventRecord(event!)
  })
}
