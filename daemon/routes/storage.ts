/** Mounts the routes of storage, one line per verb. */
import { storage } from '../../src/api/storage.ts'
import { delegateStorage } from '../../src/operations/storage.ts'
import type { Mount } from '../mount.ts'

export function storageRoutes(mount: Mount): void {
  mount(storage.delegate, delegateStorage)
}
