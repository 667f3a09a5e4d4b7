/** Mounts the routes of gold locks, one line per verb. */
import { goldLocks } from '../../src/api/gold-locks.ts'
import {
  createGoldLock,
  getGoldLock,
  getGoldToken,
  listGoldLocks,
  unlockGoldLock,
} from '../../src/operations/gold-locks/verbs.ts'
import type { Mount } from '../mount.ts'

export function goldLocksRoutes(mount: Mount): void {
  mount(goldLocks.create, createGoldLock)
  mount(goldLocks.unlock, unlockGoldLock)
  mount(goldLocks.list, listGoldLocks)
  mount(goldLocks.get, getGoldLock)
  mount(goldLocks.token, getGoldToken)
}
