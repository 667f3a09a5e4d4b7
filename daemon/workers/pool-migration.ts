/** Follows pools (live, full, migrated or failed) and sends their migration if the setting allows it. */
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import type { WorkerDefinition } from './definition.ts'

export const poolMigrationWorker: WorkerDefinition = {
  name: 'pool-migration',
  schedule: { everyMs: 5_000 },
  leaseMs: 60_000,
  tick: (context) => followPools(context, context),
}
