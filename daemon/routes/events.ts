/** Mounts the routes of events, one line per verb. */
import { api } from '../../src/api/index.ts'
import { getEvent } from '../../src/operations/events/get-event.ts'
import { listEvents } from '../../src/operations/events/list-events.ts'
import type { Mount } from '../mount.ts'

export function eventsRoutes(mount: Mount): void {
  mount.stored(api.events.list, listEvents)
  mount.stored(api.events.get, getEvent)
}
