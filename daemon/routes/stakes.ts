/** Mounts the routes of stakes, one line per verb. */
import { stakes } from '../../src/api/stakes.ts'
import { createStake } from '../../src/operations/stakes/create-stake.ts'
import { getStake } from '../../src/operations/stakes/get-stake.ts'
import { listStakes } from '../../src/operations/stakes/list-stakes.ts'
import { lookUpStakes } from '../../src/operations/stakes/look-up-stakes.ts'
import { releaseStake } from '../../src/operations/stakes/release-stake.ts'
import type { Mount } from '../mount.ts'

export function stakesRoutes(mount: Mount): void {
  mount(stakes.create, createStake)
  mount(stakes.release, releaseStake)
  mount.stored(stakes.list, listStakes)
  mount(stakes.get, getStake)
  mount(stakes.lookup, lookUpStakes)
}
