/** Follows airdrops: reports full claims and changes by other tools, and settles sponsored claims. */
import { followAirdrops } from '../../src/operations/airdrops/follow-airdrops.ts'
import { freeUnsignedClaims, settleSponsoredClaims } from '../../src/operations/sponsorships/settle-sponsored-claims.ts'
import type { WorkerDefinition } from './definition.ts'

export const airdropFullyClaimedWorker: WorkerDefinition = {
  name: 'airdrop-fully-claimed',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  async tick(context) {
    await settleSponsoredClaims(context, context.signal)
    await followAirdrops(context, context.signal)
    await freeUnsignedClaims(context, context.signal)
  },
}
