/** Removes an approver, whose approvals count no longer. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findApprover, updateApprover } from '../../store/proposals/approvers.ts'
import { requireRecord } from '../require-record.ts'
import { audit } from '../signing/audit.ts'
import { lockPolicyState } from '../signing/policy-state.ts'
import { trySigner } from '../signing/require-signer.ts'
import { approverRecord } from './approver-record.ts'

type RemoveApproverRoute = Api['approvers']['remove']

/** Waits for a signing that is being reserved, so that no approval counts once the answer is sent. */
export async function removeApprover(
  context: Context,
  { address }: Input<RemoveApproverRoute>,
): Promise<Result<RemoveApproverRoute>> {
  const signer = await trySigner(context)
  return context.commit(async (tx) => {
    if (signer !== null) await lockPolicyState(tx, context.clock, signer.address)
    const known = requireRecord(await findApprover(tx, address), 'approver', address)
    if (known.revoked_at !== null) return approverRecord(known)
    const row = await updateApprover(tx, address, { revoked_at: context.clock.now() })
    await audit(context, tx, 'approver.removed', null, { approver: address, name: known.name })
    return approverRecord(row ?? known)
  })
}
