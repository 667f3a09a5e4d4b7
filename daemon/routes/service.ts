/** Mounts the routes of the service itself, one line per verb. */
import { service } from '../../src/api/service.ts'
import { health } from '../../src/operations/service/health.ts'
import { listEventTypes, readCluster, readWorkers } from '../../src/operations/service/verbs.ts'
import type { Mount } from '../mount.ts'

export function healthRoutes(mount: Mount): void {
  mount(service.health, health)
  mount(service.workers, readWorkers)
}

export function serviceRoutes(mount: Mount): void {
  healthRoutes(mount)
  mount(service.eventTypes, listEventTypes)
  mount(service.cluster, readCluster)
}
