/** Ends proposals of rules: executed, or at their time, by a cancellation, or with the API key that asked. */
import type { Context } from '../../../context.ts'
import { SECOND_MS } from '../../../platform/timing.ts'
import { lockProposal, openProposalsOfKey, updateProposal } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { endWaiting, findSigning } from '../../../store/signing/signings.ts'
import type { Tx } from '../../../store/store.ts'
import { audit } from '../../signing/audit.ts'
import type { SigningContext } from '../../signing/types.ts'

type Ending = Pick<Context, 'actor' | 'requestId' | 'clock' | 'vault'>

interface End {
  status: 'expired' | 'cancelled'
  /** Why, as a sentence without its full stop; null if the status says it. */
  fault: string | null
}

/** `row` is locked. Returns it as it is then, or null without any change once the first of its transactions is signed. */
export async function endUnsigned(
  context: Ending,
  tx: Tx,
  { id, signing_id }: Row<'proposals'>,
  { status, fault }: End,
): Promise<Row<'proposals'> | null> {
  const signing = signing_id === null ? null : await findSigning(tx, signing_id)
  if (signing?.state === 'signed') return null
  if (signing !== null) await endWaiting(tx, signing.id)
  const why = fault === null ? {} : { reason: fault }
  await audit(context, tx, `proposal.${status}`, signing?.signer ?? null, { proposal: id, ...why })
  return updateProposal(tx, id, { status, ...(fault === null ? {} : { fault }), updated_at: context.clock.now() })
}

/** Cancels what an API key has asked for and nobody has begun to sign. Returns how many that were. */
export async function cancelOfKey(context: Ending, tx: Tx, key: string): Promise<number> {
  let cancelled = 0
  for (const id of await openProposalsOfKey(tx, key)) {
    const row = await lockProposal(tx, id)
    if (row?.status !== 'active' && row?.status !== 'approved') continue
    const fault = `the API key ${key}, which asked for it, was revoked`
    if ((await endUnsigned(context, tx, row, { status: 'cancelled', fault })) !== null) cancelled++
  }
  return cancelled
}

/** Time until the first look at the outcome; a transaction is final after some seconds. */
export const FIRST_OUTCOME_MS = 5 * SECOND_MS

/**
 * Ends the proposal that a request executes with the signature of its transaction. Does nothing in a request that
 * executes none.
 */
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
