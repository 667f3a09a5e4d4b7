/** Lists every delivery attempt of one subscription, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageWebhookDeliveries } from '../../store/webhooks/deliveries.ts'
import { findWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { recordPage, requireRecord, webhookDeliveryRecord } from '../api-records.ts'

type ListDeliveriesRoute = Api['webhookSubscriptions']['deliveries']

export async function listDeliveries(
  { store }: Pick<Context, 'store'>,
  { id, ...page }: Input<ListDeliveriesRoute>,
): Promise<Result<ListDeliveriesRoute>> {
  requireRecord(await findWebhookSubscription(store.db, id), 'webhook subscription', id)
  return recordPage(await pageWebhookDeliveries(store.db, { ...page, subscription_id: id }), webhookDeliveryRecord)
}
