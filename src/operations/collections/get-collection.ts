/** Reads one collection from the chain, and whether the platform wallet signs mints into it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readCollection } from '../../chain/programs/metaplex-core/index.ts'
import type { Context } from '../../context.ts'
import { trySigner } from '../signing/require-signer.ts'

type GetCollectionRoute = Api['collections']['get']

export async function getCollection(
  context: Context,
  { address }: Input<GetCollectionRoute>,
): Promise<Result<GetCollectionRoute>> {
  const { chain, config } = context
  const collection = await readCollection(chain, address)
  const { name, uri, updateAuthority, updateDelegates, minted, size, permanentFreeze } = collection
  const isListed = config.values['nfts.cosign-collections'].includes(address)
  const wallet = isListed ? await trySigner(context) : null
  return {
    address,
    name,
    uri,
    update_authority: updateAuthority,
    update_delegates: updateDelegates,
    num_minted: minted,
    current_size: size,
    frozen: permanentFreeze ?? false,
    cosigned: wallet !== null && [updateAuthority, ...updateDelegates].includes(wallet.address),
  }
}
