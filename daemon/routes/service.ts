/** Mounts the routes of the service itself, one line per verb. */
import { api } from '../../src/api/index.ts'
import { health } from '../../src/operations/service/health.ts'
import { listEventTypes } from '../../src/operations/service/list-event-types.ts'
import { readWorkers } from '../../src/operations/service/read-workers.ts'
import type { Mount } from '../mount.ts'

export function healthRoutes(mount: Mount): void {
  mount(api.service.health, health)
  mount(api.service.workers, readWorkers)
}

export function serviceRoutes(mount: Mount): void {
  healthRoutes(mount)
  mount(api.service.eventTypes, listEventTypes)
}
