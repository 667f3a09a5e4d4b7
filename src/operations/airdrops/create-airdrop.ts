/** Puts an airdrop on chain: its distributor, and its funding in the same transaction; unsigned or signed. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { requireSigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { planCreation } from './plan-creation.ts'

type CreateAirdropRoute = Api['airdrops']['create']

export async function createAirdrop(
  context: Context,
  input: Input<CreateAirdropRoute>,
): Promise<Result<CreateAirdropRoute>> {
  if (input.mode === 'signed') return signedCreation(context, input)
  const { id, transaction, requiredSigners } = await planCreation(context, input, input.payer)
  return {
    mode: 'unsigned',
    transaction: Buffer.from(transaction).toString('base64'),
    requiredSigners,
    tracked_resource: trackedBy(id),
  }
}

/** The platform wallet pays and funds, whatever `payer` says (contract 5, as for fee claims). */
async function signedCreation(context: Context, input: Input<CreateAirdropRoute>): Promise<Result<CreateAirdropRoute>> {
  await requireSigner(context)
  return signAndSubmit<null, Result<CreateAirdropRoute>>(context, {
    operation: 'airdrop.create',
    async begin(wallet) {
      const { id, transaction } = await planCreation(context, input, wallet)
      return { first: { transaction }, kept: null, tracked_resource: trackedBy(id) }
    },
    answer: ([signature]) => ({ mode: 'signed', signature: signature! }),
  })
}

const trackedBy = (id: string) => ({
  resource_type: 'airdrop',
  resource_id: id,
  related_events: ['airdrop.initialized' as const],
})
