/** Lists webhook subscriptions, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageWebhookSubscriptions } from '../../store/webhooks/subscriptions.ts'
import { recordPage, webhookSubscriptionRecord } from '../api-records.ts'

type ListWebhookSubscriptionsRoute = Api['webhookSubscriptions']['list']

export async function listWebhookSubscriptions(
  { store }: Pick<Context, 'store'>,
  { active, ...page }: Input<ListWebhookSubscriptionsRoute>,
): Promise<Result<ListWebhookSubscriptionsRoute>> {
  const filters = active === undefined ? {} : { active: active ? 1 : 0 }
  return recordPage(await pageWebhookSubscriptions(store.db, { ...page, ...filters }), webhookSubscriptionRecord)
}
