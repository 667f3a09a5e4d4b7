/** Builds the claim of one wallet, from the stored tree or from a given amount and proof. */
import type { Api } from '../../api/index.ts'
import { AIRDROP_CLAIM_UNITS, buildAirdropClaim } from '../../chain/programs/merkle-distributor/index.ts'
import { unsignedAct } from '../act.ts'
import { trackingOf, unsignedAnswer } from '../building.ts'
import { requestLeaf, requireClaim, storedLeaf } from './claimable-leaf.ts'
import { swapToSol } from './swap-to-sol.ts'

export const claimAirdrop = unsignedAct<Api['airdrops']['claim']>(async (context, input) => {
  const { id, claimer } = input
  const leaf = input.proof === undefined ? await storedLeaf(context, id, claimer) : requestLeaf(input, input.proof)
  const { claim, mint, amount } = await requireClaim(context, { id, claimer, leaf })
  return {
    payer: claimer,
    platformFee: input.platform_fee,
    fallbackUnits: AIRDROP_CLAIM_UNITS,
    build: (envelope) => buildAirdropClaim({ ...envelope, ...claim }),
    summary: async (built) => {
      const swap = input.swap_to_sol ? await swapToSol(context, { mint, amount, payer: claimer }, built) : null
      return { amount: String(amount), swap_transaction: swap === null ? null : unsignedAnswer(swap).transaction }
    },
    tracked: trackingOf('airdrop', id, ['airdrop.claimed']),
  }
})
