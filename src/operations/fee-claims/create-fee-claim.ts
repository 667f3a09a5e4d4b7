/** Claims what a pool owes the platform, unsigned or signed, optionally split in the same transaction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { requirePool } from '../pools/on-chain.ts'
import { trySigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'
import { type Claim, planClaim } from './plan-claim.ts'

type CreateFeeClaimRoute = Api['feeClaims']['create']

export async function createFeeClaim(
  context: Context,
  input: Input<CreateFeeClaimRoute>,
): Promise<Result<CreateFeeClaimRoute>> {
  if (input.mode === 'signed') return signedClaim(context, input)
  const claim = await planClaim(context, input, input.payer)
  return {
    ...claimed(claim),
    tx: {
      mode: 'unsigned',
      transaction: Buffer.from(claim.transaction).toString('base64'),
      requiredSigners: claim.requiredSigners,
    },
    tracked_resource: trackedBy(claim),
  }
}

/** What a signed claim answers beside its signature. */
type ClaimSummary = Pick<Claim, 'pool_address' | 'kind' | 'estimated_quote' | 'type'>

/** The platform wallet pays, whatever `payer` says (spec 4). */
async function signedClaim(context: Context, input: Input<CreateFeeClaimRoute>): Promise<Result<CreateFeeClaimRoute>> {
  // What is not on the chain is told before what is not set here.
  if ((await trySigner(context)) === null) await requirePool(context.chain, input.address)
  const run = await openSigningRun<ClaimSummary>(context, 'fee_claim.create')
  const plan = run.resumed ?? (await planSignedClaim(context, input, run.wallet))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({
      ...claimed(plan.state),
      tx: { mode: 'signed', signature },
      tracked_resource: trackedBy(plan.state),
    }),
  })
}

async function planSignedClaim(
  context: Context,
  input: Input<CreateFeeClaimRoute>,
  wallet: string,
): Promise<NewSigningPlan<ClaimSummary>> {
  const { transaction, requiredSigners, ...claim } = await planClaim(context, input, wallet)
  const other = requiredSigners.find((signer) => signer !== wallet)
  if (other !== undefined) {
    throw badRequest(
      `The fees of ${input.address} belong to ${other}, not to the platform wallet ${wallet}: claim them unsigned, with that wallet`,
      { param: 'mode', details: { fee_claimer: other } },
    )
  }
  const { pool_address, kind, estimated_quote, type } = claim
  return {
    first: { transaction },
    state: { pool_address, kind, estimated_quote, type },
    tracked_resource: trackedBy(claim),
  }
}

const claimed = ({ pool_address, kind, estimated_quote }: ClaimSummary) => ({ pool_address, kind, estimated_quote })

const trackedBy = ({ pool_address, type }: Pick<ClaimSummary, 'pool_address' | 'type'>) => ({
  resource_type: 'pool',
  resource_id: pool_address,
  related_events: [type],
})
