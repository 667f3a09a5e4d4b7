/** Follows airdrops: tells of those that every wallet has claimed, and of what happened to them elsewhere. */
import { followAirdrops } from '../../src/operations/airdrops/follow-airdrops.ts'
import type { WorkerDefinition } from './definition.ts'

export const airdropFullyClaimed: WorkerDefinition = {
  name: 'airdrop-fully-claimed',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  tick: (context) => followAirdrops(context, context.signal),
}
