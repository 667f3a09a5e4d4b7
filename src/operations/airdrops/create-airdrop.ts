/** Puts an airdrop on chain: its distributor, and its funding in the same transaction; unsigned or signed. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { signBuilt, trackingOf, unsignedAnswer } from '../building.ts'
import { requireSigner } from '../signing/require-signer.ts'
import { planCreation } from './plan-creation.ts'

type CreateAirdropRoute = Api['airdrops']['create']

export async function createAirdrop(
  context: Context,
  input: Input<CreateAirdropRoute>,
): Promise<Result<CreateAirdropRoute>> {
  if (input.mode === 'signed') return signedCreation(context, input)
  const { id, built } = await planCreation(context, input, input.payer)
  return { ...unsignedAnswer(built), tracked_resource: airdropTracking(id) }
}

/** The platform wallet pays and funds, whatever `payer` says (contract 5, as for fee claims). */
async function signedCreation(context: Context, input: Input<CreateAirdropRoute>): Promise<Result<CreateAirdropRoute>> {
  await requireSigner(context)
  return signBuilt<null, Result<CreateAirdropRoute>>(context, {
    operation: 'airdrop.create',
    async build(wallet) {
      const { id, built } = await planCreation(context, input, wallet)
      return { built, plan: null, tracked_resource: airdropTracking(id) }
    },
    answer: (signature) => ({ mode: 'signed', signature }),
  })
}

const airdropTracking = (id: string) => trackingOf('airdrop', id, ['airdrop.initialized'])
