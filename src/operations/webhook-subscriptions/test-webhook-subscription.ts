/** Writes a `webhook.test_event` for one subscription. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { writeEvent } from '../../store/events/drafts.ts'
import { newId } from '../../store/id.ts'
import { eventRecord, webhookSubscriptionRecord } from '../api-records.ts'
import { ownSubscription } from './owned.ts'

type TestWebhookSubscriptionRoute = Api['webhookSubscriptions']['test']

export async function testWebhookSubscription(
  context: Context,
  { id }: Input<TestWebhookSubscriptionRoute>,
): Promise<Result<TestWebhookSubscriptionRoute>> {
  return context.commit(async (tx) => {
    const subscription = await ownSubscription(context, tx, id)
    const event = await writeEvent(tx, context.clock, {
      type: 'webhook.test_event',
      resource_type: 'webhook_subscription',
      resource_id: id,
      object: webhookSubscriptionRecord(subscription),
      dedupe_by: newId('test'),
      origin: {
        external_uid: context.externalUid ?? null,
        metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
      },
    })
    if (event === null) throw new Error('an event with a new dedupe key already exists')
    return eventRecord(event)
  })
}
