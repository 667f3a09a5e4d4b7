/** Builds the claim of one wallet, from the stored tree or from a given amount and proof. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { AIRDROP_CLAIM_UNITS, buildAirdropClaim } from '../../chain/programs/merkle-distributor/index.ts'
import type { Context } from '../../context.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { requestLeaf, requireClaim, storedLeaf } from './claimable-leaf.ts'
import { swapToSol } from './swap-to-sol.ts'

type ClaimAirdropRoute = Api['airdrops']['claim']

export async function claimAirdrop(
  context: Context,
  input: Input<ClaimAirdropRoute>,
): Promise<Result<ClaimAirdropRoute>> {
  const { id, claimer } = input
  const leaf = input.proof === undefined ? await storedLeaf(context, id, claimer) : requestLeaf(input, input.proof)
  const { claim, mint, amount } = await requireClaim(context, { id, claimer, leaf })
  const built = await buildTransaction(context, {
    payer: claimer,
    platformFee: input.platform_fee,
    fallbackUnits: AIRDROP_CLAIM_UNITS,
    build: (envelope) => buildAirdropClaim({ ...envelope, ...claim }),
  })
  const swap = input.swap_to_sol ? await swapToSol(context, { mint, amount, payer: claimer }, built) : null
  return {
    ...unsignedAnswer(built),
    amount: String(amount),
    swap_transaction: swap === null ? null : unsignedAnswer(swap).transaction,
    tracked_resource: trackingOf('airdrop', id, ['airdrop.claimed']),
  }
}
