/** Builds the staking of an asset: frozen where it is, with a memo that names the platform. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import {
  buildFreeze,
  type Freeze,
  isFrozenByIssuer,
  type PluginAuthority,
} from '../../chain/programs/metaplex-core/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type Owned, requireOwned } from '../assets/owned-asset.ts'
import { throwRefused } from '../assets/refused.ts'
import { rememberNft } from '../assets/remember.ts'
import { platformFee } from '../platform-fee.ts'
import { openSigner, requireSigner } from '../signing/require-signer.ts'
import { holderOf } from './holder.ts'

type CreateStakeRoute = Api['stakes']['create']

/** Half more than the costliest stake was measured at: 24,389, where it replaces a plugin. */
const FALLBACK_UNITS = 37_000

export async function createStake(context: Context, input: Input<CreateStakeRoute>): Promise<Result<CreateStakeRoute>> {
  const { chain, config } = context
  const { asset: address, user, platform_id: platformId } = input
  const owned = await requireOwned(context, { ...input, owner: user, param: 'user' })
  requireFree(owned)
  const { asset } = owned
  // A release needs this key: without a signer an asset would be frozen for good.
  const authority =
    config.values['stakes.freeze-authority'] === 'platform' ? (await requireSigner(context)).address : null
  const existing = await pluginFor(context, owned, authority)
  await requireProgram(chain, PROGRAMS.core)
  const connection = await chain.connection()
  const after = await platformFee({ ...context, connection }, { payer: user, lamports: input.platform_fee })
  const recentBlockhash = await readLatestBlockhash(connection)
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildFreeze({ payer: user, asset, authority, existing, platformId, recentBlockhash, before, after }),
    FALLBACK_UNITS,
    throwRefused,
  )
  return context.commit(async (tx) => {
    await rememberNft(context, tx, owned)
    return {
      mode: 'unsigned' as const,
      transaction: Buffer.from(transaction).toString('base64'),
      requiredSigners,
      tracked_resource: { resource_type: 'stake', resource_id: address, related_events: ['stake.acquired' as const] },
    }
  })
}

function requireFree({ asset, collection }: Owned): void {
  const { address, freeze } = asset
  if (freeze?.frozen) {
    throw badRequest(
      `The asset ${address} is already staked: it is frozen, and ${holderOf(freeze.authority)} can release it`,
      {
        param: 'asset',
      },
    )
  }
  if (isFrozenByIssuer(asset, collection)) {
    throw badRequest(`The asset ${address} is frozen by its issuer: it could not be released again`, { param: 'asset' })
  }
}

/** A plugin that the owner has given to a stranger stays; throws bad_request. */
async function pluginFor(
  context: Context,
  { asset: { address, owner, freeze } }: Owned,
  authority: string | null,
): Promise<Freeze['existing']> {
  if (freeze === null) return 'none'
  const isOwners = isOf(freeze.authority, owner)
  if (isOwners && authority === null) return 'use'
  const platform = authority ?? (await openSigner(context))?.address
  if (isOwners || (platform !== undefined && isOf(freeze.authority, platform))) return 'replace'
  throw badRequest(
    `The asset ${address} has given its freeze plugin to ${holderOf(freeze.authority)}: take it back (revoke or remove the plugin) before it is staked`,
    { param: 'asset', details: { freeze_authority: freeze.authority } },
  )
}

/** Whether the owner's, or given to that address. */
const isOf = (authority: PluginAuthority, address: string): boolean =>
  authority.type === 'Owner' || (authority.type === 'Address' && authority.address === address)
