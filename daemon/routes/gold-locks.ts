/** Mounts the routes of gold locks, one line per verb. */
import { api } from '../../src/api/index.ts'
import { createGoldLock } from '../../src/operations/gold-locks/create-gold-lock.ts'
import { getGoldLock } from '../../src/operations/gold-locks/get-gold-lock.ts'
import { getGoldToken } from '../../src/operations/gold-locks/get-gold-token.ts'
import { listGoldLocks } from '../../src/operations/gold-locks/list-gold-locks.ts'
import { unlockGoldLock } from '../../src/operations/gold-locks/unlock-gold-lock.ts'
import type { Mount } from '../mount.ts'

export function goldLocksRoutes(mount: Mount): void {
  mount(api.goldLocks.create, createGoldLock)
  mount(api.goldLocks.unlock, unlockGoldLock)
  mount.stored(api.goldLocks.list, listGoldLocks)
  mount(api.goldLocks.get, getGoldLock)
  mount(api.goldLocks.token, getGoldToken)
}
