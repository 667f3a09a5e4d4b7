/** Claims what a pool owes the platform, unsigned or signed, optionally split in the same transaction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { signBuilt, trackingOf, unsignedAnswer } from '../building.ts'
import { requirePool } from '../pools/on-chain.ts'
import { requireSigner, trySigner } from '../signing/require-signer.ts'
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

/** The platform wallet pays, whatever `payer` says (spec 4). */
async function signedClaim(context: Context, input: Input<CreateFeeClaimRoute>): Promise<Result<CreateFeeClaimRoute>> {
  // A pool that is not on the chain is reported before a signer that is not configured.
  if ((await trySigner(context)) === null) await requirePool(context.chain, input.address)
  const { address } = await requireSigner(context)
  return signBuilt<FeeClaimPlan, Result<CreateFeeClaimRoute>>(context, {
    operation: 'fee_claim.create',
    async build() {
      const { built, plan } = await planClaim(context, input, address)
      const other = built.requiredSigners.find((signer) => signer !== address)
      if (other !== undefined) {
        throw badRequest(
          `The fees of ${input.address} belong to ${other}, not to the platform wallet ${address}: claim them unsigned, with that wallet`,
          { param: 'mode', details: { fee_claimer: other } },
        )
      }
      return { built, plan, tracked_resource: feeClaimTracking(plan) }
    },
    answer: (signature, plan) => ({
      ...feeClaimAnswer(plan),
      tx: { mode: 'signed', signature },
      tracked_resource: feeClaimTracking(plan),
    }),
  })
}

const feeClaimAnswer = ({ pool_address, kind, estimated_quote }: FeeClaimPlan) => ({
  pool_address,
  kind,
  estimated_quote,
})

const feeClaimTracking = ({ pool_address, type }: FeeClaimPlan) => trackingOf('pool', pool_address, [type])
