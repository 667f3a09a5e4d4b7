/** Mounts the routes of stakes, one line per verb. */
import { api } from '../../src/api/index.ts'
import { createStake } from '../../src/operations/stakes/create-stake.ts'
import { getStake } from '../../src/operations/stakes/get-stake.ts'
import { listStakes } from '../../src/operations/stakes/list-stakes.ts'
import { lookUpStakes } from '../../src/operations/stakes/look-up-stakes.ts'
import { releaseStake } from '../../src/operations/stakes/release-stake.ts'
import type { Mount } from '../mount.ts'

export function stakesRoutes(mount: Mount): void {
  mount(api.stakes.create, createStake)
  mount(api.stakes.release, releaseStake)
  mount.stored(api.stakes.list, listStakes)
  mount(api.stakes.get, getStake)
  mount(api.stakes.lookup, lookUpStakes)
}
