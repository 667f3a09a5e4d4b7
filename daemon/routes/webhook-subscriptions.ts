/** Mounts the routes of webhook subscriptions, one line per verb. */
import { webhookSubscriptions } from '../../src/api/webhook-subscriptions.ts'
import {
  createWebhookSubscription,
  deleteWebhookSubscriptionById,
  getWebhookSubscription,
  listDeliveries,
  listWebhookSubscriptions,
  replayEvents,
  rotateSecret,
  testWebhookSubscription,
  updateWebhookSubscriptionById,
} from '../../src/operations/webhook-subscriptions/verbs.ts'
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
