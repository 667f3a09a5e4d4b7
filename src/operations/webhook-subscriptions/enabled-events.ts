/** Formats the event types of a subscription for storage. */
import type { WebhookSubscription } from '../../api/index.ts'

/** A type that is listed twice is stored once. */
export const enabledEventsJson = (types: WebhookSubscription['enabled_events']): string =>
  JSON.stringify([...new Set(types)])
