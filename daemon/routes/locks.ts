/** Mounts the routes of locks, one line per verb. */
import { locks } from '../../src/api/locks.ts'
import {
  cancelLock,
  changeLockRecipient,
  claimLock,
  closeLock,
  createLock,
  entitleLock,
  getLock,
  listLocks,
} from '../../src/operations/locks/verbs.ts'
import type { Mount } from '../mount.ts'

export function locksRoutes(mount: Mount): void {
  mount(locks.create, createLock)
  mount(locks.list, listLocks)
  mount(locks.get, getLock)
  mount(locks.claim, claimLock)
  mount(locks.cancel, cancelLock)
  mount(locks.changeRecipient, changeLockRecipient)
  mount(locks.entitle, entitleLock)
  mount(locks.close, closeLock)
}
