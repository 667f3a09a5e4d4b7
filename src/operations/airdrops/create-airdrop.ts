/** Creates an airdrop on chain: its distributor, and its funding in the same transaction, unsigned or signed. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { lockTree } from '../../store/airdrops/merkle-trees.ts'
import type { Tx } from '../../store/store.ts'
import { inEitherMode } from '../act.ts'
import { signingDraft, trackingOf } from '../building.ts'
import { treeIdOf } from '../merkle-trees/open-tree.ts'
import { AIRDROP_CREATION } from '../merkle-trees/replaced-tree.ts'
import { planCreation, storedRootOf } from './plan-creation.ts'

type CreateAirdropRoute = Api['airdrops']['create']

export async function createAirdrop(
  context: Context,
  input: Input<CreateAirdropRoute>,
): Promise<Result<CreateAirdropRoute>> {
  const plan = async (payer: string) => {
    const { id, built } = await planCreation(context, input, payer)
    return { built, summary: {}, tracked: trackingOf('airdrop', id, ['airdrop.initialized']) }
  }
  const answer = await inEitherMode(context, input, AIRDROP_CREATION, plan, {
    steps: (wallet) => ({
      reserve: (tx) => requireStoredRoot(tx, input),
      // The program creates no airdrop after its start.
      waits: async (seconds) => signingDraft((await planCreation(context, input, wallet, seconds)).built),
    }),
  })
  return answer as Result<CreateAirdropRoute>
}

/** Locks the stored tree, so that it cannot be replaced between its reading and the reservation of the signing. */
async function requireStoredRoot(
  tx: Tx,
  { mint, airdrop_count, merkle_root }: Input<CreateAirdropRoute>,
): Promise<void> {
  storedRootOf({ merkle_root }, await lockTree(tx, treeIdOf(mint, airdrop_count)))
}
