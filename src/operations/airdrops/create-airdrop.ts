/** Creates an airdrop on chain: its distributor, and its funding in the same transaction, unsigned or signed. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { lockTree } from '../../store/airdrops/merkle-trees.ts'
import type { Tx } from '../../store/store.ts'
import { signingDraft, trackingOf, unsignedAnswer } from '../building.ts'
import { treeIdOf } from '../merkle-trees/open-tree.ts'
import { AIRDROP_CREATION } from '../merkle-trees/replaced-tree.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'
import { planCreation, storedRootOf } from './plan-creation.ts'

type CreateAirdropRoute = Api['airdrops']['create']

export async function createAirdrop(
  context: Context,
  input: Input<CreateAirdropRoute>,
): Promise<Result<CreateAirdropRoute>> {
  if (input.mode === 'signed') return signedCreation(context, input)
  const { id, built } = await planCreation(context, input, input.payer)
  return { ...unsignedAnswer(built), tracked_resource: airdropTracking(id) }
}

/** The platform wallet pays and funds, and `payer` is ignored, as for fee claims. */
async function signedCreation(context: Context, input: Input<CreateAirdropRoute>): Promise<Result<CreateAirdropRoute>> {
  const run = await openSigningRun<null>(context, AIRDROP_CREATION)
  const plan = run.resumed ?? (await planSignedCreation(context, input, run.wallet))
  return signAndSubmit(context, run, plan, {
    reserve: (tx) => requireStoredRoot(tx, input),
    // The program creates no airdrop after its start.
    waits: async (seconds) => signingDraft((await planCreation(context, input, run.wallet, seconds)).built),
    answer: ([signature]) => ({ mode: 'signed', signature }),
  })
}

/** Locks the stored tree, so that it cannot be replaced between its reading and the reservation of the signing. */
async function requireStoredRoot(
  tx: Tx,
  { mint, airdrop_count, merkle_root }: Input<CreateAirdropRoute>,
): Promise<void> {
  storedRootOf({ merkle_root }, await lockTree(tx, treeIdOf(mint, airdrop_count)))
}

async function planSignedCreation(
  context: Context,
  input: Input<CreateAirdropRoute>,
  wallet: string,
): Promise<NewSigningPlan<null>> {
  const { id, built } = await planCreation(context, input, wallet)
  return { first: signingDraft(built), state: null, tracked_resource: airdropTracking(id) }
}

const airdropTracking = (id: string) => trackingOf('airdrop', id, ['airdrop.initialized'])
