/** Mounts the routes of stakes, one line per verb. */
import { stakes } from '../../src/api/stakes.ts'
import { createStake, getStake, listStakes, lookUpStakes, releaseStake } from '../../src/operations/stakes.ts'
import type { Mount } from '../mount.ts'

export function stakesRoutes(mount: Mount): void {
  mount(stakes.create, createStake)
  mount(stakes.release, releaseStake)
  mount.stored(stakes.list, listStakes)
  mount(stakes.get, getStake)
  mount(stakes.lookup, lookUpStakes)
}
