/** Returns the catalogue of event types. */

import { DETECTION, EVENT_TYPES } from '../../api/event-types.ts'
import type { EventTypeItem } from '../../api/events.ts'

export async function listEventTypes(): Promise<EventTypeItem[]> {
  return EVENT_TYPES.map((type) => ({ type, detection: DETECTION[type] }))
}
