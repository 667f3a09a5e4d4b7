/** Builds the minting of an asset into a collection; the platform wallet signs it where the collection is listed. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import { cosigned } from '../../chain/cosign.ts'
import { buildMint, type CollectionState, readAssetIn } from '../../chain/programs/metaplex-core/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Signer } from '../../chain/signer/index.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { throwRefused } from '../assets/refused.ts'
import { cosign } from '../signing/cosign.ts'
import { requireSigner, trySigner } from '../signing/require-signer.ts'

type CreateNftRoute = Api['nfts']['create']

/** Half more than a mint was measured at: 12,755. */
const FALLBACK_UNITS = 20_000

export async function createNft(context: Context, input: Input<CreateNftRoute>): Promise<Result<CreateNftRoute>> {
  const { chain, config } = context
  const { payer, owner = payer, name, uri } = input
  if ([payer, owner, input.collection].includes(input.asset ?? '')) throw notFresh()
  if (owner === PROGRAMS.core.id) {
    throw badRequest('owner is the address of Metaplex Core itself, which no asset can have', { param: 'owner' })
  }
  const connection = await chain.connection()
  const { Keypair } = await import('@solana/web3.js')
  const assetKey = input.asset === undefined ? Keypair.generate() : null
  const asset = input.asset ?? assetKey!.publicKey.toBase58()
  const { found, isTaken, collection } = await readAssetIn(connection, asset, input.collection)
  if (collection === null) throw notFound(`There is no collection at ${input.collection}`, { param: 'collection' })
  if (found.kind !== 'absent') throw badRequest(`There is an asset at ${asset} already`, { param: 'asset' })
  if (isTaken) throw notFresh()
  const { authority, cosigner } = await authorityOf(context, collection, input)
  if (asset === authority) throw notFresh()
  await requireProgram(chain, PROGRAMS.core)
  const recentBlockhash = await readLatestBlockhash(connection)
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildMint({ payer, asset, collection, authority, owner, name, uri, recentBlockhash, before }),
    FALLBACK_UNITS,
    throwRefused,
  )
  const signed = assetKey === null ? transaction : cosigned(transaction, [assetKey.secretKey])
  const done = [...(assetKey === null ? [] : [asset]), ...(cosigner === null ? [] : [cosigner.address])]
  const answer = (bytes: Uint8Array): Result<CreateNftRoute> => ({
    mode: 'unsigned',
    transaction: Buffer.from(bytes).toString('base64'),
    requiredSigners: requiredSigners.filter((signer) => !done.includes(signer)),
    asset,
    tracked_resource: { resource_type: 'nft', resource_id: asset, related_events: ['nft.created'] },
  })
  if (cosigner === null) return answer(signed)
  const about = { asset, collection: collection.address, payer }
  return cosign(context, cosigner, { operation: 'nft.create', transaction: signed, about }, answer)
}

const notFresh = () =>
  badRequest(
    'asset must be the address of a fresh key, which nothing else has: no account, and no other part in this',
    {
      param: 'asset',
    },
  )

/** Who of the collection signs: who was asked for, the payer where it may, the platform wallet where it is to, or the update authority. */
async function authorityOf(
  context: Context,
  collection: CollectionState,
  { payer, authority: asked }: Input<CreateNftRoute>,
): Promise<{ authority: string; cosigner: Signer | null }> {
  const { updateAuthority, updateDelegates, address } = collection
  const all = [updateAuthority, ...updateDelegates]
  if (asked !== undefined && !all.includes(asked)) {
    throw badRequest(
      `${asked} may not mint into the collection ${address}: its update authority is ${updateAuthority}, its delegates are ${updateDelegates.join(', ') || 'none'}`,
      { param: 'authority', details: { update_authority: updateAuthority, update_delegates: updateDelegates } },
    )
  }
  const wanted = asked ?? (all.includes(payer) ? payer : null)
  if (wanted !== payer && context.config.values['nfts.cosign-collections'].includes(address)) {
    // Who names another authority needs no signer.
    const signer = wanted === null ? await requireSigner(context) : await trySigner(context)
    const isWanted = signer !== null && (wanted === null ? all : [wanted]).includes(signer.address)
    if (isWanted) return { authority: signer.address, cosigner: signer }
  }
  return { authority: wanted ?? updateAuthority, cosigner: null }
}
