/** Storage: one line per verb. */
import { api } from '../../src/api/index.ts'
import { type Mount, notYet } from '../mount.ts'

export function storageRoutes(mount: Mount): void {
  mount(api.storage.delegate, notYet('Delegating storage'))
}
