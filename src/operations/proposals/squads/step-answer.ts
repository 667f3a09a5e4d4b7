/** Answers a step about a multisig's proposal: unsigned for the member, or signed by the platform wallet. */
import type { ClosedBuffer, ProposalStep, TrackedResource } from '../../../api/index.ts'
import type { SignedOperation } from '../../../api/signed-operations.ts'
import type { Context } from '../../../context.ts'
import type { Row } from '../../../store/schema.ts'
import { type BuiltTransaction, signingDraft, unsignedAnswer } from '../../building.ts'
import { signAndSubmit } from '../../signing/sign-and-submit.ts'
import { openSigningRun } from '../../signing/signing-run.ts'
import { recordOf } from '../get-proposal.ts'
import type { DecisionInput } from '../types.ts'

export interface Step {
  row: Row<'proposals'>
  built: BuiltTransaction
  tracked?: TrackedResource | undefined
  /** Lamports that return to an address. */
  returns?: { lamports: string; to: string }
  /** Buffers of the payer that are closed. */
  buffers?: ClosedBuffer[]
}

/**
 * `make` checks and builds. What has waited for approvals is checked again; what another earlier run of the request has
 * made is not.
 */
export async function answerStep(
  context: Context,
  { mode }: DecisionInput,
  { operation, row }: { operation: SignedOperation; row: Row<'proposals'> },
  make: () => Promise<Step>,
): Promise<ProposalStep> {
  const proposal = () => recordOf(context.store.db, row)
  const more = ({ returns, buffers }: Pick<Step, 'returns' | 'buffers'>) => ({
    ...(returns === undefined ? {} : { returns }),
    ...(buffers === undefined ? {} : { buffers }),
  })
  if (mode !== 'signed') {
    const step = await make()
    const { tracked } = step
    return {
      ...unsignedAnswer(step.built),
      ...(tracked === undefined ? {} : { tracked_resource: tracked }),
      ...more(step),
      proposal: await proposal(),
    }
  }
  const run = await openSigningRun<Pick<Step, 'returns' | 'buffers'>>(context, operation)
  if (run.resumed !== null && context.approved !== undefined) await make()
  const plan = run.resumed ?? signedPlan(row.id, await make())
  const record = await proposal()
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({ mode: 'signed', signature, ...more(plan.state), proposal: record }),
  })
}

const signedPlan = (about: string, { built, tracked, returns, buffers }: Step) => ({
  about,
  first: signingDraft(built),
  state: {
    ...(returns === undefined ? {} : { returns }),
    ...(buffers === undefined ? {} : { buffers }),
  },
  ...(tracked === undefined ? {} : { tracked_resource: tracked }),
})
