/** Builds the release of a staked asset; the platform wallet signs it where it was staked so, and nothing else of its. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import { type AssetState, buildRelease, isFrozenByIssuer } from '../../chain/programs/metaplex-core/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Signer } from '../../chain/signer/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { findStake } from '../../store/stakes.ts'
import { requireOwned } from '../assets/owned-asset.ts'
import { throwRefused } from '../assets/refused.ts'
import { platformFee } from '../platform-fee.ts'
import { cosign } from '../signing/cosign.ts'
import { openSigner } from '../signing/require-signer.ts'
import { holderOf } from './holder.ts'

type ReleaseStakeRoute = Api['stakes']['release']

/** Half more than the costliest release was measured at: 22,312, with the longest memo. */
const FALLBACK_UNITS = 34_000

export async function releaseStake(
  context: Context,
  input: Input<ReleaseStakeRoute>,
): Promise<Result<ReleaseStakeRoute>> {
  const { chain, config } = context
  const { asset: address, user, platform_id: platformId } = input
  const { asset, collection } = await requireOwned(context, { ...input, owner: user, param: 'user' })
  if (!asset.freeze?.frozen) throw badRequest(`The asset ${address} is not staked`, { param: 'asset' })
  if (isFrozenByIssuer(asset, collection)) {
    throw badRequest(`The asset ${address} is frozen by its issuer too: it can be released once that has ended`, {
      param: 'asset',
    })
  }
  const signer = await cosignerOf(context, asset)
  await requireProgram(chain, PROGRAMS.core)
  const connection = await chain.connection()
  const after = await platformFee({ ...context, connection }, { payer: user, lamports: input.platform_fee })
  const recentBlockhash = await readLatestBlockhash(connection)
  const authority = signer?.address ?? null
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildRelease({ payer: user, asset, authority, platformId, recentBlockhash, before, after }),
    FALLBACK_UNITS,
    throwRefused,
  )
  const answer = (bytes: Uint8Array): Result<ReleaseStakeRoute> => ({
    mode: 'unsigned',
    transaction: Buffer.from(bytes).toString('base64'),
    requiredSigners: requiredSigners.filter((key) => key !== authority),
    tracked_resource: { resource_type: 'stake', resource_id: address, related_events: ['stake.released'] },
  })
  if (signer === null) return answer(transaction)
  const about = { asset: address, collection: collection.address, payer: user }
  return cosign(context, signer, { operation: 'stake.release', transaction, about, release: address }, answer)
}

/**
 * Null where the owner alone can release it. Throws bad_request where neither it nor the platform wallet can, and where
 * the wallet has frozen it for another reason than a stake.
 */
async function cosignerOf(context: Context, { address, owner, freeze }: AssetState): Promise<Signer | null> {
  const { authority } = freeze!
  if (authority.type === 'Owner') return null
  if (authority.type === 'Address') {
    if (authority.address === owner) return null
    const signer = await openSigner(context)
    if (signer?.address === authority.address) {
      await requireStake(context, address, signer)
      return signer
    }
  }
  throw badRequest(
    `The asset ${address} is frozen by ${holderOf(authority)}, which is neither its owner nor the platform wallet of this service: only it can release it`,
    { param: 'asset', details: { freeze_authority: authority } },
  )
}

/** Any key may ask for a release, so that only what was followed from its stake, memo and all, is one. */
async function requireStake({ store }: Context, asset: string, { address }: Signer): Promise<void> {
  const stake = await findStake(store.db, asset)
  const isKnown = stake?.status === 'staked' && stake.platform_id !== null && stake.freeze_authority === address
  if (isKnown) return
  throw badRequest(
    `The asset ${asset} is frozen by the platform wallet, and no stake of it was followed here: the wallet signs the release of stakes alone. Submit the transaction that staked it (POST /v2/transactions, \`svc tx submit\`; one that has landed is taken, too), and ask again once it is confirmed`,
    { param: 'asset', details: { freeze_authority: { type: 'Address', address }, status: stake?.status ?? null } },
  )
}
