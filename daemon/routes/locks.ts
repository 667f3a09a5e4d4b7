/** Mounts the routes of locks, one line per verb. */
import { locks } from '../../src/api/locks.ts'
import { cancelLock } from '../../src/operations/locks/cancel-lock.ts'
import { changeLockRecipient } from '../../src/operations/locks/change-recipient.ts'
import { claimLock } from '../../src/operations/locks/claim-lock.ts'
import { closeLock } from '../../src/operations/locks/close-lock.ts'
import { createLock } from '../../src/operations/locks/create-lock.ts'
import { entitleLock } from '../../src/operations/locks/entitle-lock.ts'
import { getLock } from '../../src/operations/locks/get-lock.ts'
import { listLocks } from '../../src/operations/locks/list-locks.ts'
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
