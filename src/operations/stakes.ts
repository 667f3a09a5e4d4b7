/** Stakes, which are assets frozen in their wallets: make, release, read and list. */
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import {
  type AssetState,
  buildFreeze,
  buildRelease,
  type Freeze,
  isFrozenByIssuer,
  type PluginAuthority,
} from '../chain/programs/metaplex-core/index.ts'
import type { Signer } from '../chain/signer/index.ts'
import type { Context } from '../context.ts'
import { badRequest, notFound } from '../platform/errors.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { findStake, findStakedByWallet, pageStakes } from '../store/resources/stakes.ts'
import type { Row } from '../store/schema.ts'
import { unsignedAct } from './act.ts'
import { listOf, stakeRecord } from './api-records.ts'
import { insertForeignNft } from './assets/asset-rows.ts'
import { type OwnedAsset, requireOwnedAsset } from './assets/owned-asset.ts'
import { readAssetWithRows } from './assets/read-asset.ts'
import { trackingOf } from './building.ts'
import { throwCoreRefusal } from './refusals.ts'
import { openSigner, requireSigner } from './signing/require-signer.ts'

type Routes = Api['stakes']

/** Builds a stake: freezes an asset in its wallet, with a memo that names the platform. */
export const createStake = unsignedAct<Routes['create']>(async (context, input) => {
  const { asset: address, user, platform_id: platformId } = input
  const owned = await requireOwnedAsset(context, { ...input, owner: user, param: 'user' })
  requireFree(owned)
  const { asset } = owned
  // A release requires this key. Without a signer the asset would be frozen permanently.
  const authority =
    context.config.values['stakes.freeze-authority'] === 'platform' ? (await requireSigner(context)).address : null
  const existing = await pluginFor(context, owned, authority)
  return {
    payer: user,
    requiredProgram: PROGRAMS.core,
    platformFee: input.platform_fee,
    // One and a half times the measured cost of the most expensive stake, 24,389 units, which replaces a plugin.
    fallbackUnits: 37_000,
    build: (envelope) => buildFreeze({ ...envelope, asset, authority, existing, platformId }),
    onFailedSimulation: throwCoreRefusal,
    summary: {},
    tracked: trackingOf('stake', address, ['stake.acquired']),
    record: (tx) => insertForeignNft(context, tx, owned),
  }
})

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

/** Builds the release of a staked asset. The platform wallet signs it if it is the stake's authority. */
export const releaseStake = unsignedAct<Routes['release']>(async (context, input) => {
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
  const signer = await requireCosigner(context, asset, freeze.authority)
  const about = { asset: address, collection: collection.address, payer: user }
  return {
    payer: user,
    requiredProgram: PROGRAMS.core,
    platformFee: input.platform_fee,
    // One and a half times the measured cost of the most expensive release, 22,312 units with the longest memo.
    fallbackUnits: 34_000,
    build: (envelope) => buildRelease({ ...envelope, asset, authority: signer?.address ?? null, platformId }),
    onFailedSimulation: throwCoreRefusal,
    summary: {},
    tracked: trackingOf('stake', address, ['stake.released']),
    cosigning: signer && { signer, operation: 'stake.release', about, release: address },
  }
})

/**
 * Returns null when the owner can release it alone. Throws bad_request if neither the owner nor the platform wallet
 * can, or if the wallet has frozen it for another reason than a stake.
 */
async function requireCosigner(
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

const AUTHORITY_CLASSES = { Owner: 'its owner', UpdateAuthority: 'its update authority', None: 'nobody' } as const

/** Describes the authority of a plugin for messages. */
const describeAuthority = (authority: PluginAuthority): string =>
  authority.type === 'Address' ? authority.address : AUTHORITY_CLASSES[authority.type]

/** Reads one stake from the chain: whether the asset is frozen, and its owner. */
export async function getStake(context: Context, { asset }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { kind, state, nft, stake } = await readAssetWithRows(context, asset)
  if (kind === 'absent') throw notFound(`There is no asset at ${asset}`, { param: 'asset' })
  const record = stake === null ? null : stakeRecord(stake)
  const collection = state?.collection ?? record?.collection ?? nft?.collection ?? null
  if (collection === null) {
    const why = state === null ? 'it is burned and was never followed here' : 'it is not in a collection'
    throw notFound(`There is no stake of the asset ${asset}: ${why}`, { param: 'asset' })
  }
  return {
    asset,
    collection,
    owner: state?.owner ?? null,
    status: state === null ? 'burned' : state.staked ? 'staked' : 'unstaked',
    platform_id: record?.platform_id ?? null,
    metadata: record?.metadata ?? null,
  }
}

export const listStakes = listOf<Routes['list'], Row<'stakes'>>(pageStakes, stakeRecord)

const NOTE =
  'Stake state lives on the asset itself (its FreezeDelegate plugin) and is decoded client-side from the account (GET /v2/accounts/{address}, `svc accounts get`); this list is what the server has seen.'

/** Lists the staked assets of a wallet. */
export async function lookUpStakes(
  { store }: Context,
  { wallet }: Input<Routes['lookup']>,
): Promise<Result<Routes['lookup']>> {
  const rows = await findStakedByWallet(store.db, wallet)
  return { wallet, note: NOTE, staked_assets: rows.map(stakeRecord) }
}
