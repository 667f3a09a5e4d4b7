/** Removes a webhook subscription. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { deleteWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { ownSubscription } from './owned.ts'

type DeleteWebhookSubscriptionRoute = Api['webhookSubscriptions']['delete']

export async function deleteWebhookSubscriptionById(
  context: Context,
  { id }: Input<DeleteWebhookSubscriptionRoute>,
): Promise<Result<DeleteWebhookSubscriptionRoute>> {
  const answer = await context.commit(async (tx) => {
    await ownSubscription(context, tx, id)
    await deleteWebhookSubscription(tx, id, context.clock.now())
    return { id, deleted: true as const }
  })
  context.wake('webhook-delivery')
  return answer
}
