/** Mounts the routes of webhook subscriptions, one line per verb. */
import { webhookSubscriptions } from '../../src/api/webhook-subscriptions.ts'
import { createWebhookSubscription } from '../../src/operations/webhook-subscriptions/create-webhook-subscription.ts'
import { deleteWebhookSubscriptionById } from '../../src/operations/webhook-subscriptions/delete-webhook-subscription.ts'
import { getWebhookSubscription } from '../../src/operations/webhook-subscriptions/get-webhook-subscription.ts'
import { listDeliveries } from '../../src/operations/webhook-subscriptions/list-deliveries.ts'
import { listWebhookSubscriptions } from '../../src/operations/webhook-subscriptions/list-webhook-subscriptions.ts'
import { replayEvents } from '../../src/operations/webhook-subscriptions/replay-events.ts'
import { rotateSecret } from '../../src/operations/webhook-subscriptions/rotate-secret.ts'
import { testWebhookSubscription } from '../../src/operations/webhook-subscriptions/test-webhook-subscription.ts'
import { updateWebhookSubscriptionById } from '../../src/operations/webhook-subscriptions/update-webhook-subscription.ts'
import type { Mount } from '../mount.ts'

export function webhookSubscriptionsRoutes(mount: Mount): void {
  mount(webhookSubscriptions.create, createWebhookSubscription)
  mount.stored(webhookSubscriptions.list, listWebhookSubscriptions)
  mount.stored(webhookSubscriptions.get, getWebhookSubscription)
  mount(webhookSubscriptions.update, updateWebhookSubscriptionById)
  mount(webhookSubscriptions.delete, deleteWebhookSubscriptionById)
  mount(webhookSubscriptions.test, testWebhookSubscription)
  mount.stored(webhookSubscriptions.deliveries, listDeliveries)
  mount(webhookSubscriptions.replay, replayEvents)
  mount(webhookSubscriptions.rotateSecret, rotateSecret)
}
