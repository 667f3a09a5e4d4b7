/** Replaces the secret of a subscription; the old one signs too until the overlap ends. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findWebhookSubscription, updateWebhookSubscription } from '../../store/webhook-subscriptions.ts'
import { found } from '../found.ts'
import { webhookSubscriptionRecord } from '../records.ts'
import { makeSecret } from './secret.ts'

type Route = Api['webhookSubscriptions']['rotateSecret']

export async function rotateSecret(context: Context, { id, overlap_hours }: Input<Route>): Promise<Result<Route>> {
  const now = context.clock.now()
  const until = overlap_hours === 0 ? null : now + overlap_hours * 3_600_000
  const { secret, columns } = makeSecret(context, id)
  return context.commit(async (tx) => {
    const before = found(await findWebhookSubscription(tx, id), 'webhook subscription', id)
    const stored = await updateWebhookSubscription(tx, id, {
      ...columns,
      previous_secret: until === null ? null : before.secret,
      previous_secret_until: until,
      updated_at: now,
    })
    return {
      ...webhookSubscriptionRecord(stored!),
      secret,
      previous_secret_expires_at: until === null ? null : new Date(until).toISOString(),
    }
  })
}
