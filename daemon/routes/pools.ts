/** Pools: one line per verb. */
import { api } from '../../src/api/index.ts'
import { getPool } from '../../src/operations/pools/get-pool.ts'
import { listPools } from '../../src/operations/pools/list-pools.ts'
import { type Mount, notYet } from '../mount.ts'

export function poolsRoutes(mount: Mount): void {
  mount(api.pools.create, notYet('Creating a pool'))
  mount(api.pools.list, listPools)
  mount(api.pools.get, getPool)
  mount(api.pools.curveProgress, notYet('Reading the progress of a curve'))
  mount(api.pools.feeMetrics, notYet('Reading fee metrics'))
  mount(api.pools.verify, notYet('Verifying a pool'))
}
