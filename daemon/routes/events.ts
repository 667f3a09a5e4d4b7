/** Mounts the routes of events, one line per verb. */
import { events } from '../../src/api/events.ts'
import { getEvent, listEvents, repairEvents, verifyEvents } from '../../src/operations/events.ts'
import type { Mount } from '../mount.ts'

export function eventsRoutes(mount: Mount): void {
  mount.stored(events.list, listEvents)
  mount(events.verify, verifyEvents)
  mount(events.repair, repairEvents)
  mount.stored(events.get, getEvent)
}
