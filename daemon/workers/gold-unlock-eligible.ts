/** Reports when gold can be unlocked, by the chain's clock, and detects gold that was unlocked with other tools. */
import { followGoldLocks } from '../../src/operations/gold-locks/follow-gold-locks.ts'
import type { WorkerDefinition } from './definition.ts'

export const goldUnlockEligibleWorker: WorkerDefinition = {
  name: 'gold-unlock-eligible',
  schedule: { everyMs: 10_000 },
  leaseMs: 60_000,
  tick: (context) => followGoldLocks(context, context.signal),
}
