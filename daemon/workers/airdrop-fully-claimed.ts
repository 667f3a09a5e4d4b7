/** Follows airdrops: reports those that every wallet has claimed, and changes made to them with other tools. */
import { followAirdrops } from '../../src/operations/airdrops/follow-airdrops.ts'
import type { WorkerDefinition } from './definition.ts'

export const airdropFullyClaimedWorker: WorkerDefinition = {
  name: 'airdrop-fully-claimed',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  tick: (context) => followAirdrops(context, context.signal),
}
