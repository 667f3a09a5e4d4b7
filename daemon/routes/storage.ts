/** Mounts the routes of storage, one line per verb. */
import { api } from '../../src/api/index.ts'
import { delegateStorage } from '../../src/operations/storage/delegate-storage.ts'
import type { Mount } from '../mount.ts'

export function storageRoutes(mount: Mount): void {
  mount(api.storage.delegate, delegateStorage)
}
