/** Creates and updates records of assets from readings of the chain. */
import { isFrozen } from '../../chain/programs/metaplex-core/index.ts'
import type { Services } from '../../context.ts'
import { findNft, insertNft, moveNft } from '../../store/resources/nfts.ts'
import { findStake, moveStake } from '../../store/resources/stakes.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader, Tx } from '../../store/store.ts'
import type { OwnedAsset } from './owned-asset.ts'

/** Inserts the record of an asset that another tool minted, so that events about it contain its name. */
export async function insertForeignNft(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  { slot, asset, collection }: OwnedAsset,
): Promise<void> {
  const { address, owner, name, uri } = asset
  await insertNft(tx, {
    asset: address,
    collection: collection.address,
    owner,
    name,
    uri,
    status: 'minted',
    frozen: isFrozen(asset, collection) ? 1 : 0,
    external_uid: null,
    metadata_json: null,
    created_at: clock.now(),
    changed_slot: slot,
  })
}

/** The state of an asset at a slot, or null for a burned one. */
export interface AssetOnChain {
  slot: number
  state: {
    owner: string
    /** Collection of the asset, or null without one. Records keep the last collection. */
    collection: string | null
    name: string
    uri: string
    frozen: boolean
    staked: boolean
  } | null
}

export interface AssetRows {
  nft: Row<'nfts'> | null
  stake: Row<'stakes'> | null
}

/**
 * Returns the records of the asset, updated by changes from outside, such as a transfer. Writes only if something
 * changed.
 */
export async function refreshAssetRows(
  { store }: Pick<Services, 'store'>,
  asset: string,
  { slot, state }: AssetOnChain,
): Promise<AssetRows> {
  const where = state === null || state.collection === null ? {} : { collection: state.collection }
  const nftNow =
    state === null
      ? { owner: null, status: 'burned' as const, frozen: 0 }
      : { ...where, owner: state.owner, name: state.name, uri: state.uri, frozen: state.frozen ? 1 : 0 }
  const stakeNow =
    state === null
      ? { owner: null, status: 'burned' as const }
      : { ...where, owner: state.owner, status: state.staked ? ('staked' as const) : ('unstaked' as const) }
  const existing = await readAssetRows(store.db, asset)
  if (!differs(existing.nft, nftNow) && !differs(existing.stake, stakeNow)) return existing
  await store.write(async (tx) => {
    const place = { slot, order: 0 }
    const { nft, stake } = await readAssetRows(tx, asset)
    if (differs(nft, nftNow)) await moveNft(tx, asset, place, nftNow)
    if (stake !== null && differs(stake, stakeNow)) {
      const isAnother = stake.status === 'unstaked' && stakeNow.status === 'staked'
      await moveStake(tx, asset, place, { ...stakeNow, ...(isAnother ? unknownStake(stake) : {}) })
    }
  })
  return readAssetRows(store.db, asset)
}

const readAssetRows = async (reader: Reader, asset: string): Promise<AssetRows> => ({
  nft: await findNft(reader, asset),
  stake: await findStake(reader, asset),
})

/**
 * Fields of a stake whose transaction is not followed yet. Only a transaction after the recorded slot may fill them.
 */
const unknownStake = ({ changed_slot, changed_order }: Row<'stakes'>) => ({
  platform_id: null,
  metadata_json: null,
  external_uid: null,
  freeze_authority: null,
  said_slot: changed_slot,
  said_order: changed_order,
})

const differs = (row: object | null, now: object): boolean =>
  row !== null && Object.entries(now).some(([name, value]) => (row as Record<string, unknown>)[name] !== value)
