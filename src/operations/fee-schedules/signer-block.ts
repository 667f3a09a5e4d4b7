/** Reads why the platform wallet cannot sign for a schedule now, or its address. */
import type { ScheduleRunReason } from '../../api/fee-schedules.ts'
import { readPolicyState } from '../signing/policy-state.ts'
import { requireCluster, trySigner } from '../signing/require-signer.ts'
import type { ScheduleServices } from './claim-share.ts'

/** Throws internal_error when the node fails. */
export async function signerOrBlock(
  services: ScheduleServices,
): Promise<{ wallet: string; genesis: string } | { reason: ScheduleRunReason }> {
  const signer = await trySigner(services)
  if (signer === null) return { reason: 'no_signer' }
  const { policy } = await readPolicyState(services.store.db, services.clock, signer.address)
  if (policy.paused) return { reason: 'signer_paused' }
  const genesis = await services.chain.genesisHash()
  // The node has answered, so only a signer of another cluster is refused here.
  const isOurs = await requireCluster(services).then(
    () => true,
    () => false,
  )
  return isOurs ? { wallet: signer.address, genesis } : { reason: 'other_cluster' }
}
