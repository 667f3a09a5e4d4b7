/** Ends a proposal of a rule with the signature of the transaction that executed it. */

import { updateProposal } from '../../../store/proposals/proposals.ts'
import type { Tx } from '../../../store/store.ts'
import { audit } from '../../signing/audit.ts'
import type { SigningContext } from '../../signing/types.ts'
import { FIRST_OUTCOME_MS } from './outcome.ts'

/** Does nothing in a request that executes no proposal. */
export async function markProposalExecuted(
  context: SigningContext,
  tx: Tx,
  wallet: string,
  signature: string,
): Promise<void> {
  const { approved: id } = context
  if (id === undefined) return
  const now = context.clock.now()
  const next_look_at = now + FIRST_OUTCOME_MS
  await updateProposal(tx, id, { status: 'executed', signature, fault: null, next_look_at, updated_at: now })
  await audit(context, tx, 'proposal.executed', wallet, { proposal: id, signature })
}
