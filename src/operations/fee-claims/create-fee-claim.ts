/** Claims what a pool owes the platform, unsigned or signed, optionally split in the same transaction. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { requirePool } from '../pools/on-chain.ts'
import { requireSigner, trySigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
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

type Kept = Pick<Claim, 'pool_address' | 'kind' | 'estimated_quote' | 'type'>

/** The platform wallet pays, whatever `payer` says (spec 4). */
async function signedClaim(context: Context, input: Input<CreateFeeClaimRoute>): Promise<Result<CreateFeeClaimRoute>> {
  // What is not on the chain is told before what is not set here.
  if ((await trySigner(context)) === null) await requirePool(context.chain, input.address)
  const { address } = await requireSigner(context)
  return signAndSubmit<Kept, Result<CreateFeeClaimRoute>>(context, {
    operation: 'fee_claim.create',
    async begin() {
      const claim = await planClaim(context, input, address)
      if (claim.requiredSigners.some((signer) => signer !== address)) {
        const [other] = claim.requiredSigners.filter((signer) => signer !== address)
        throw badRequest(
          `The fees of ${input.address} belong to ${other}, not to the platform wallet ${address}: claim them unsigned, with that wallet`,
          { param: 'mode', details: { fee_claimer: other } },
        )
      }
      const { pool_address, kind, estimated_quote, type } = claim
      const kept = { pool_address, kind, estimated_quote, type }
      return { first: { transaction: claim.transaction }, kept, tracked_resource: trackedBy(claim) }
    },
    answer: ([signature], kept) => ({
      ...claimed(kept),
      tx: { mode: 'signed', signature: signature! },
      tracked_resource: trackedBy(kept),
    }),
  })
}

const claimed = ({ pool_address, kind, estimated_quote }: Kept) => ({ pool_address, kind, estimated_quote })

const trackedBy = ({ pool_address, type }: Pick<Kept, 'pool_address' | 'type'>) => ({
  resource_type: 'pool',
  resource_id: pool_address,
  related_events: [type],
})
