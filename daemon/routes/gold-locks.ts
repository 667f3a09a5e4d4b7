/** Mounts the routes of gold locks, one line per verb. */
import { goldLocks } from '../../src/api/gold-locks.ts'
import { createGoldLock } from '../../src/operations/gold-locks/create-gold-lock.ts'
import { getGoldLock } from '../../src/operations/gold-locks/get-gold-lock.ts'
import { getGoldToken } from '../../src/operations/gold-locks/get-gold-token.ts'
import { listGoldLocks } from '../../src/operations/gold-locks/list-gold-locks.ts'
import { unlockGoldLock } from '../../src/operations/gold-locks/unlock-gold-lock.ts'
import type { Mount } from '../mount.ts'

export function goldLocksRoutes(mount: Mount): void {
  mount(goldLocks.create, createGoldLock)
  mount(goldLocks.unlock, unlockGoldLock)
  mount(goldLocks.list, listGoldLocks)
  mount(goldLocks.get, getGoldLock)
  mount(goldLocks.token, getGoldToken)
}
