/** Mounts the routes of pools, one line per verb. */
import { pools } from '../../src/api/pools.ts'
import { rehearsePool } from '../../src/operations/pool-rehearsals/rehearse-pool.ts'
import { createPool } from '../../src/operations/pools/create-pool.ts'
import { getCurveProgress } from '../../src/operations/pools/get-curve-progress.ts'
import { getEarnings } from '../../src/operations/pools/get-earnings.ts'
import { getFeeMetrics } from '../../src/operations/pools/get-fee-metrics.ts'
import { getPool } from '../../src/operations/pools/get-pool.ts'
import { getSharedConfig } from '../../src/operations/pools/get-shared-config.ts'
import { listPools } from '../../src/operations/pools/list-pools.ts'
import { listPresets } from '../../src/operations/pools/list-presets.ts'
import { migratePool } from '../../src/operations/pools/migrate-pool.ts'
import { previewPreset } from '../../src/operations/pools/preview-preset.ts'
import { sharePreset } from '../../src/operations/pools/share-preset.ts'
import { swapPool } from '../../src/operations/pools/swap-pool.ts'
import { transferCreator } from '../../src/operations/pools/transfer-creator.ts'
import { transferPositions } from '../../src/operations/pools/transfer-positions.ts'
import { verifyPool } from '../../src/operations/pools/verify-pool.ts'
import type { Mount } from '../mount.ts'

export function poolsRoutes(mount: Mount): void {
  mount(pools.create, createPool)
  mount(pools.rehearse, rehearsePool)
  mount(pools.list, listPools)
  mount(pools.get, getPool)
  mount(pools.curveProgress, getCurveProgress)
  mount(pools.feeMetrics, getFeeMetrics)
  mount(pools.earnings, getEarnings)
  mount(pools.verify, verifyPool)
  mount(pools.swap, swapPool)
  mount(pools.transferCreator, transferCreator)
  mount(pools.transferPositions, transferPositions)
  mount(pools.migrate, migratePool)
  mount(pools.presets, listPresets)
  mount(pools.preview, previewPreset)
  mount(pools.sharedConfig, getSharedConfig)
  mount(pools.share, sharePreset)
}
