/** Returns one webhook subscription. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { requireRecord, webhookSubscriptionRecord } from '../api-records.ts'

type GetWebhookSubscriptionRoute = Api['webhookSubscriptions']['get']

export async function getWebhookSubscription(
  { store }: Pick<Context, 'store'>,
  { id }: Input<GetWebhookSubscriptionRoute>,
): Promise<Result<GetWebhookSubscriptionRoute>> {
  return webhookSubscriptionRecord(
    requireRecord(await findWebhookSubscription(store.db, id), 'webhook subscription', id),
  )
}
