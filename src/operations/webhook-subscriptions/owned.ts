/** Returns a webhook subscription that the caller may change: its own, or any with the scope `*`. */
import type { Context } from '../../context.ts'
import { forbidden } from '../../platform/errors.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { findWebhookSubscription } from '../../store/webhooks/subscriptions.ts'
import { requireRecord } from '../api-records.ts'

/**
 * Throws not_found, and forbidden if another key created it, because a changed URL or secret would redirect its
 * deliveries.
 */
export async function ownSubscription(
  { actor }: Pick<Context, 'actor'>,
  reader: Reader,
  id: string,
): Promise<Row<'webhook_subscriptions'>> {
  const row = requireRecord(await findWebhookSubscription(reader, id), 'webhook subscription', id)
  if (row.api_key_id === actor.apiKeyId || actor.scopes.includes('*')) return row
  throw forbidden(
    row.api_key_id === null
      ? `Webhook subscription ${id} has no owner: only a key with the scope * can change it`
      : `Webhook subscription ${id} was made by another API key: only that key, or one with the scope *, can change it`,
  )
}
