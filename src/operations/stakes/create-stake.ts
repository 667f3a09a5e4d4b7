/** Builds a stake: freezes an asset in its wallet, with a memo that names the platform. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildFreeze,
  type Freeze,
  isFrozenByIssuer,
  type PluginAuthority,
} from '../../chain/programs/metaplex-core/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { insertForeignNft } from '../assets/asset-rows.ts'
import { throwCoreRefusal } from '../assets/core-refusal.ts'
import { type OwnedAsset, requireOwnedAsset } from '../assets/owned-asset.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { openSigner, requireSigner } from '../signing/require-signer.ts'
import { describeAuthority } from './describe-authority.ts'

type CreateStakeRoute = Api['stakes']['create']

export async function createStake(context: Context, input: Input<CreateStakeRoute>): Promise<Result<CreateStakeRoute>> {
  const { asset: address, user, platform_id: platformId } = input
  const owned = await requireOwnedAsset(context, { ...input, owner: user, param: 'user' })
  requireFree(owned)
  const { asset } = owned
  // A release requires this key. Without a signer the asset would be frozen permanently.
  const authority =
    context.config.values['stakes.freeze-authority'] === 'platform' ? (await requireSigner(context)).address : null
  const existing = await pluginFor(context, owned, authority)
  const built = await buildTransaction(context, {
    payer: user,
    requiredProgram: PROGRAMS.core,
    platformFee: input.platform_fee,
    // One and a half times the measured cost of the most expensive stake, 24,389 units, which replaces a plugin.
    fallbackUnits: 37_000,
    build: (envelope) => buildFreeze({ ...envelope, asset, authority, existing, platformId }),
    onFailedTrial: throwCoreRefusal,
  })
  return context.commit(async (tx) => {
    await insertForeignNft(context, tx, owned)
    return { ...unsignedAnswer(built), tracked_resource: trackingOf('stake', address, ['stake.acquired']) }
  })
}

function requireFree({ asset, collection }: OwnedAsset): void {
  const { address, freeze } = asset
  if (freeze?.frozen) {
    throw badRequest(
      `The asset ${address} is already staked: it is frozen, and ${describeAuthority(freeze.authority)} can release it`,
      {
        param: 'asset',
      },
    )
  }
  if (isFrozenByIssuer(asset, collection)) {
    throw badRequest(`The asset ${address} is frozen by its issuer: it could not be released again`, { param: 'asset' })
  }
}

/** Throws bad_request if the owner has given the plugin to another address, because it must not be replaced. */
async function pluginFor(
  context: Context,
  { asset: { address, owner, freeze } }: OwnedAsset,
  authority: string | null,
): Promise<Freeze['existing']> {
  if (freeze === null) return 'none'
  const isOwners = isHeldBy(freeze.authority, owner)
  if (isOwners && authority === null) return 'use'
  const platform = authority ?? (await openSigner(context))?.address
  if (isOwners || (platform !== undefined && isHeldBy(freeze.authority, platform))) return 'replace'
  throw badRequest(
    `The asset ${address} has a freeze plugin with the authority ${describeAuthority(freeze.authority)}: revoke or remove the plugin before staking`,
    { param: 'asset', details: { freeze_authority: freeze.authority } },
  )
}

/** Whether the plugin's authority is the owner or that address. */
const isHeldBy = (authority: PluginAuthority, address: string): boolean =>
  authority.type === 'Owner' || (authority.type === 'Address' && authority.address === address)
