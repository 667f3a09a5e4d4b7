/** The event types of a subscription, as they are stored. */
import type { WebhookSubscription } from '../../api/index.ts'

/** A type that is named twice is one. */
export const enabledEventsJson = (types: WebhookSubscription['enabled_events']): string =>
  JSON.stringify([...new Set(types)])
