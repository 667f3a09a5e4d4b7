/** Reads an asset from the chain, and updates its records by it. */
import { type AssetState, isFrozen, readAssetIn, readCoreAsset } from '../../chain/programs/metaplex-core/index.ts'
import type { Services } from '../../context.ts'
import { findStake } from '../../store/resources/stakes.ts'
import { trySigner } from '../signing/require-signer.ts'
import { type AssetOnChain, type AssetRows, refreshAssetRows } from './asset-rows.ts'

interface AssetReading extends AssetRows {
  kind: 'absent' | 'burned' | 'asset'
  /** State of the asset, or null for an absent or burned one. */
  state: AssetOnChain['state']
}

/** Throws bad_request for an asset that cannot be read, internal_error when the node fails. */
export async function readAssetWithRows(
  services: Pick<Services, 'chain' | 'store' | 'signer' | 'log'>,
  address: string,
): Promise<AssetReading> {
  const { slot, content } = await readCoreAsset(services.chain, address)
  if (content.kind === 'absent') return { kind: 'absent', state: null, nft: null, stake: null }
  if (content.kind === 'burned') {
    return { kind: 'burned', state: null, ...(await refreshAssetRows(services, address, { slot, state: null })) }
  }
  const { owner, name, uri, collection } = content.asset
  // The collection may be frozen as a whole.
  const whole = collection === null ? null : (await readAssetIn(services.chain, address, collection)).collection
  const staked = await isAssetStaked(services, content.asset)
  const state = { owner, name, uri, collection, frozen: isFrozen(content.asset, whole), staked }
  return { kind: 'asset', state, ...(await refreshAssetRows(services, address, { slot, state })) }
}

/** A freeze by another address, such as a market, is not a stake unless it was followed here as one. */
async function isAssetStaked(
  services: Pick<Services, 'store' | 'signer' | 'log'>,
  { address, owner, freeze }: AssetState,
): Promise<boolean> {
  if (!freeze?.frozen) return false
  const { authority } = freeze
  if (authority.type === 'Owner') return true
  if (authority.type !== 'Address') return false
  if (authority.address === owner || authority.address === (await trySigner(services))?.address) return true
  const known = await findStake(services.store.db, address)
  return known?.status === 'staked' && known.freeze_authority === authority.address
}
