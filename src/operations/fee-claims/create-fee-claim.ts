/** Claims the platform's fees of a pool, unsigned or signed, optionally split in the same transaction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { signingDraft, trackingOf, unsignedAnswer } from '../building.ts'
import { requirePool } from '../pools/on-chain.ts'
import { trySigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'
import { type FeeClaimPlan, planClaim } from './plan-claim.ts'

type CreateFeeClaimRoute = Api['feeClaims']['create']

export async function createFeeClaim(
  context: Context,
  input: Input<CreateFeeClaimRoute>,
): Promise<Result<CreateFeeClaimRoute>> {
  if (input.mode === 'signed') return signedClaim(context, input)
  const { built, plan } = await planClaim(context, input, input.payer)
  return { ...feeClaimAnswer(plan), tx: unsignedAnswer(built), tracked_resource: feeClaimTracking(plan) }
}

/** The platform wallet pays, whatever `payer` is. */
async function signedClaim(context: Context, input: Input<CreateFeeClaimRoute>): Promise<Result<CreateFeeClaimRoute>> {
  // A pool that is not on the chain is reported before a signer that is not configured.
  if ((await trySigner(context)) === null) await requirePool(context.chain, input.address)
  const run = await openSigningRun<FeeClaimPlan>(context, 'fee_claim.create')
  const plan = run.resumed ?? (await planSignedClaim(context, input, run.wallet))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({
      ...feeClaimAnswer(plan.state),
      tx: { mode: 'signed', signature },
      tracked_resource: feeClaimTracking(plan.state),
    }),
  })
}

async function planSignedClaim(
  context: Context,
  input: Input<CreateFeeClaimRoute>,
  wallet: string,
): Promise<NewSigningPlan<FeeClaimPlan>> {
  const { built, plan } = await planClaim(context, input, wallet)
  const other = built.requiredSigners.find((signer) => signer !== wallet)
  if (other !== undefined) {
    throw badRequest(
      `The fees of ${input.address} belong to ${other}, not to the platform wallet ${wallet}: claim them unsigned, with that wallet`,
      { param: 'mode', details: { fee_claimer: other } },
    )
  }
  return { first: signingDraft(built), state: plan, tracked_resource: feeClaimTracking(plan) }
}

const feeClaimAnswer = ({ pool_address, kind, estimated_quote }: FeeClaimPlan) => ({
  pool_address,
  kind,
  estimated_quote,
})

const feeClaimTracking = ({ pool_address, type }: FeeClaimPlan) => trackingOf('pool', pool_address, [type])
