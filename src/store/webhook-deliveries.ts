/** Delivery attempts of webhooks, one row each. */
import { finding, inserting, listing, updating } from './records.ts'

export const insertWebhookDelivery = inserting('webhook_deliveries')
export const findWebhookDelivery = finding('webhook_deliveries', 'id')
export const updateWebhookDelivery = updating('webhook_deliveries', 'id')
export const pageWebhookDeliveries = listing('webhook_deliveries', ['subscription_id'])
