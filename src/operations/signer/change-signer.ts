/** Changes the signer's policy state under its lock, with an entry in the audit log. All changes go through here. */
import type { AuditAction } from '../../api/audit-actions.ts'
import type { SignerState } from '../../api/index.ts'
import type { Context } from '../../context.ts'
import { retryCranks } from '../../store/resources/pools.ts'
import type { NewRow } from '../../store/schema.ts'
import { updatePolicy } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'
import { wakeOnCommit } from '../../store/writing/work.ts'
import { audit } from '../signing/audit.ts'
import { lockPolicyState, type PolicyState } from '../signing/policy-state.ts'
import { requireSigner } from '../signing/require-signer.ts'
import { readSignerState } from './read-signer.ts'

/** The new content of the policy's row, and the entry for the audit log. */
interface SignerChange {
  changes: Partial<Omit<NewRow<'signer_policies'>, 'signer'>>
  details: Record<string, unknown>
}

/** `change` is called once the policy state is locked. Throws internal_error without a signer. */
export async function changeSigner(
  context: Context,
  action: AuditAction,
  change: (state: PolicyState, tx: Tx) => SignerChange | Promise<SignerChange>,
): Promise<SignerState> {
  const signer = await requireSigner(context)
  return context.commit(async (tx) => {
    const { changes, details } = await change(await lockPolicyState(tx, context.clock, signer.address), tx)
    await updatePolicy(tx, signer.address, changes)
    await audit(context, tx, action, signer.address, details)
    // What was refused before may be signed now.
    await retryCranks(tx, context.clock.now())
    wakeOnCommit('pool-migration')
    return readSignerState(context, tx, signer)
  })
}
