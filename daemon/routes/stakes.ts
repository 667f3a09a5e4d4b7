/** Stakes: one line per verb. */
import { api } from '../../src/api/index.ts'
import { listStakes } from '../../src/operations/stakes/list-stakes.ts'
import { lookUpStakes } from '../../src/operations/stakes/look-up-stakes.ts'
import { type Mount, notYet } from '../mount.ts'

export function stakesRoutes(mount: Mount): void {
  mount(api.stakes.create, notYet('Staking an asset'))
  mount(api.stakes.release, notYet('Releasing an asset'))
  mount(api.stakes.list, listStakes)
  mount(api.stakes.get, notYet('Reading a stake from the chain'))
  mount(api.stakes.lookup, lookUpStakes)
}
