/** Builds the release of a staked asset. The platform wallet signs it if it is the stake's authority. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  type AssetState,
  buildRelease,
  isFrozenByIssuer,
  type PluginAuthority,
} from '../../chain/programs/metaplex-core/index.ts'
import type { Signer } from '../../chain/signer/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { findStake } from '../../store/resources/stakes.ts'
import { throwCoreRefusal } from '../assets/core-refusal.ts'
import { requireOwnedAsset } from '../assets/owned-asset.ts'
import { answerCosigned, buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { openSigner } from '../signing/require-signer.ts'
import { describeAuthority } from './describe-authority.ts'

type ReleaseStakeRoute = Api['stakes']['release']

export async function releaseStake(
  context: Context,
  input: Input<ReleaseStakeRoute>,
): Promise<Result<ReleaseStakeRoute>> {
  const { asset: address, user, platform_id: platformId } = input
  const { asset, collection } = await requireOwnedAsset(context, { ...input, owner: user, param: 'user' })
  const { freeze } = asset
  if (!freeze?.frozen) throw badRequest(`The asset ${address} is not staked`, { param: 'asset' })
  if (isFrozenByIssuer(asset, collection)) {
    throw badRequest(
      `The asset ${address} is also frozen by its issuer: it can be released once the issuer has thawed it`,
      {
        param: 'asset',
      },
    )
  }
  const signer = await cosignerOf(context, asset, freeze.authority)
  const built = await buildTransaction(context, {
    payer: user,
    requiredProgram: PROGRAMS.core,
    platformFee: input.platform_fee,
    // One and a half times the measured cost of the most expensive release, 22,312 units with the longest memo.
    fallbackUnits: 34_000,
    build: (envelope) => buildRelease({ ...envelope, asset, authority: signer?.address ?? null, platformId }),
    onFailedTrial: throwCoreRefusal,
  })
  const about = { asset: address, collection: collection.address, payer: user }
  const cosigning = signer && { signer, operation: 'stake.release', about, release: address }
  return answerCosigned(context, built, cosigning, (signed) => ({
    ...unsignedAnswer(signed),
    tracked_resource: trackingOf('stake', address, ['stake.released']),
  }))
}

/**
 * Returns null when the owner can release it alone. Throws bad_request if neither the owner nor the platform wallet
 * can, or if the wallet has frozen it for another reason than a stake.
 */
async function cosignerOf(
  context: Context,
  { address, owner }: AssetState,
  authority: PluginAuthority,
): Promise<Signer | null> {
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
    `The asset ${address} is frozen by ${describeAuthority(authority)}, which is neither its owner nor the platform wallet of this service: only it can release it`,
    { param: 'asset', details: { freeze_authority: authority } },
  )
}

/** Throws unless the stake was followed here with its memo, because any API key may request a release. */
async function requireStake({ store }: Context, asset: string, { address }: Signer): Promise<void> {
  const stake = await findStake(store.db, asset)
  const isKnown = stake?.status === 'staked' && stake.platform_id !== null && stake.freeze_authority === address
  if (isKnown) return
  throw badRequest(
    `The asset ${asset} is frozen by the platform wallet, and no stake of it was followed here: the wallet releases only stakes. Submit the transaction that staked it (POST /v2/transactions, \`svc tx submit\`; it may have landed already), and try again once it is confirmed`,
    { param: 'asset', details: { freeze_authority: { type: 'Address', address }, status: stake?.status ?? null } },
  )
}
