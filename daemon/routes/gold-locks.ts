/** Gold locks: one line per verb. */
import { api } from '../../src/api/index.ts'
import { listGoldLocks } from '../../src/operations/gold-locks/list-gold-locks.ts'
import { type Mount, notYet } from '../mount.ts'

export function goldLocksRoutes(mount: Mount): void {
  mount(api.goldLocks.create, notYet('Locking gold'))
  mount(api.goldLocks.unlock, notYet('Unlocking gold'))
  mount(api.goldLocks.list, listGoldLocks)
  mount(api.goldLocks.get, notYet('Reading a gold lock from the chain'))
}
