/** Mounts the routes of pools, one line per verb. */
import { api } from '../../src/api/index.ts'
import { createPool } from '../../src/operations/pools/create-pool.ts'
import { getCurveProgress } from '../../src/operations/pools/get-curve-progress.ts'
import { getFeeMetrics } from '../../src/operations/pools/get-fee-metrics.ts'
import { getPool } from '../../src/operations/pools/get-pool.ts'
import { listPools } from '../../src/operations/pools/list-pools.ts'
import { listPresets } from '../../src/operations/pools/list-presets.ts'
import { swapPool } from '../../src/operations/pools/swap-pool.ts'
import { verifyPool } from '../../src/operations/pools/verify-pool.ts'
import type { Mount } from '../mount.ts'

export function poolsRoutes(mount: Mount): void {
  mount(api.pools.create, createPool)
  mount(api.pools.list, listPools)
  mount(api.pools.get, getPool)
  mount(api.pools.curveProgress, getCurveProgress)
  mount(api.pools.feeMetrics, getFeeMetrics)
  mount(api.pools.verify, verifyPool)
  mount(api.pools.swap, swapPool)
  mount(api.pools.presets, listPresets)
}
