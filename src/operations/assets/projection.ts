/** Projects confirmed transactions onto assets: minted, frozen and released as stakes, transferred, burned. */
import type { EventType } from '../../api/event-types.ts'
import { type AssetChange, assetChangesIn, collectionsCreatedIn } from '../../chain/programs/metaplex-core/index.ts'
import { confirmedDraft } from '../../following/chain-drafts.ts'
import type { Effects, Projection } from '../../following/projection.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import { followAccounts, isFollowed, type NewFollowedAccount } from '../../store/following/followed-accounts.ts'
import { newNfts, newStakes } from '../../store/following/newcomers.ts'
import { type AssetPlace, isBefore } from '../../store/resources/asset-records.ts'
import { findNft, insertNft, moveNft, updateNft } from '../../store/resources/nfts.ts'
import { findStake, insertStake, moveStake, updateStake } from '../../store/resources/stakes.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { nftRecord, stakeRecord } from '../api-records.ts'
import { trySigner } from '../signing/require-signer.ts'

interface AssetChanges {
  changes: readonly AssetChange[]
  /** Collections that were created. */
  created: readonly string[]
  /** The platform's wallet. Assets that it freezes are stakes. */
  wallet: string | null
}

type AssetEffects = Effects<AssetChanges, never>
type AssetChangeOf<K extends AssetChange['kind']> = Extract<AssetChange, { kind: K }>
type FreezeChange = AssetChangeOf<'frozen' | 'released'>

/**
 * NFTs and stakes are records of the same assets, written in the order of the message. An event reports the effect of
 * its transaction, but the record is not changed if a later transaction or reading has written it.
 */
export const assetProjection: Projection<AssetChanges, never> = {
  async changesIn(message, { services }) {
    const [changes, created] = [assetChangesIn(message), collectionsCreatedIn(message)]
    if (changes.length === 0 && created.length === 0) return null
    return { changes, created, wallet: (await trySigner(services))?.address ?? null }
  },
  async accountsToFollow({ store, clock, config }, { genesis }) {
    const now = clock.now()
    const assets = [...(await newNfts(store.db, { genesis, now })), ...(await newStakes(store.db, { genesis, now }))]
    const named = [...assets.map(({ collection }) => collection), ...config.values['nfts.cosign-collections']]
    return [...new Set(named)].map(collectionAccount)
  },
  async ofRecords(reader, { changes, wallet }, genesis) {
    const kept: AssetChange[] = []
    for (const change of changes) if (await isOfRecord(reader, change, genesis)) kept.push(change)
    // A stranger's collection is not followed.
    return kept.length === 0 ? null : { changes: kept, created: [], wallet }
  },
  async fieldsOf(reader, { resource_type, resource_id }) {
    const nft = resource_type === 'nft' ? await findNft(reader, resource_id) : null
    const stake = resource_type === 'stake' ? await findStake(reader, resource_id) : null
    return (nft && nftRecord(nft)) ?? (stake && stakeRecord(stake))
  },
  async write(tx, effects) {
    await followCollections(tx, effects)
    const drafts: EventDraft[] = []
    for (const change of effects.changes.changes) {
      if (change.kind === 'minted') drafts.push(...(await writeMint(tx, effects, change)))
      else if (change.kind === 'burned') drafts.push(...(await writeBurn(tx, effects, change)))
      else if (change.kind === 'transferred') await writeTransfer(tx, effects, change)
      else drafts.push(...(await writeFreeze(tx, effects, change)))
    }
    return drafts
  },
}

const collectionAccount = (address: string): NewFollowedAccount => ({ address, kind: 'collection', watch: 'history' })

/** Minting into a collection takes its authority, so that strangers cannot fill a followed one. */
async function isOfRecord(reader: Reader, change: AssetChange, genesis: string): Promise<boolean> {
  if ((await findNft(reader, change.asset)) !== null || (await findStake(reader, change.asset)) !== null) return true
  return change.collection !== null && (await isFollowed(reader, genesis, change.collection))
}

/** Collections made here are followed, so that every transaction with their assets is found, whoever sends it. */
async function followCollections(tx: Tx, { services, transaction, slot, changes }: AssetEffects): Promise<void> {
  const { genesis } = transaction
  await followAccounts(tx, changes.created.map(collectionAccount), { genesis, from: slot, now: services.clock.now() })
}

const chainPlaceOf = ({ transaction, slot }: AssetEffects): AssetPlace => ({ slot, order: transaction.seq })
const originColumns = ({ transaction: { external_uid, metadata_json } }: AssetEffects) => ({
  external_uid,
  metadata_json,
})
const placeColumns = ({ slot, order }: AssetPlace) => ({ changed_slot: slot, changed_order: order })
const firstColumns = (effects: AssetEffects) => ({
  ...originColumns(effects),
  created_at: effects.services.clock.now(),
  ...placeColumns(chainPlaceOf(effects)),
})

/** Assets without a collection have no records. */
async function writeMint(tx: Tx, effects: AssetEffects, change: AssetChangeOf<'minted'>): Promise<EventDraft[]> {
  const { asset, collection, owner, name, uri } = change
  if (collection === null) return []
  const state = { asset, collection, owner, name, uri, status: 'minted', frozen: 0 } as const
  const inserted = await insertNft(tx, { ...state, ...firstColumns(effects) })
  const row = inserted ?? (await findNft(tx, asset))
  if (row === null) throw new Error(`The record of ${asset} was not inserted and does not exist`)
  if (inserted === null) {
    // The record was made before its mint was followed. It takes the origin of the mint's request and keeps later
    // changes.
    const isNameless = row.name === '' && row.uri === ''
    await updateNft(tx, asset, { ...originColumns(effects), ...(isNameless ? { name, uri } : {}) })
  }
  return [assetDraft(effects, 'nft.created', { ...nftRecord(row), ...state, frozen: false })]
}

async function writeBurn(tx: Tx, effects: AssetEffects, change: AssetChangeOf<'burned'>): Promise<EventDraft[]> {
  const { asset } = change
  const stored = await findNft(tx, asset)
  const collection = change.collection ?? stored?.collection ?? null
  if (collection === null) return []
  const burned = { owner: null, status: 'burned', frozen: 0 } as const
  const state = { asset, collection, name: stored?.name ?? '', uri: stored?.uri ?? '', ...burned }
  // Nothing comes after a burn, so the record is changed regardless of the slots that were read.
  const place = placeColumns(chainPlaceOf(effects))
  const row =
    stored === null
      ? await insertNft(tx, { ...state, ...firstColumns(effects) })
      : await updateNft(tx, asset, { ...burned, collection, ...place })
  if (row === null)
    throw new Error(
      `The record of ${asset} was inserted while its burn was being written: the next round writes the burn`,
    )
  await updateStake(tx, asset, { collection, owner: null, status: 'burned', ...place })
  return [assetDraft(effects, 'nft.burned', { ...nftRecord(row), ...state, frozen: false })]
}

async function writeTransfer(tx: Tx, effects: AssetEffects, change: AssetChangeOf<'transferred'>): Promise<void> {
  const { asset, collection, owner } = change
  const columns = { owner, ...(collection === null ? {} : { collection }) }
  await moveNft(tx, asset, chainPlaceOf(effects), columns)
  await moveStake(tx, asset, chainPlaceOf(effects), columns)
}

async function writeFreeze(tx: Tx, effects: AssetEffects, change: FreezeChange): Promise<EventDraft[]> {
  const { asset, kind } = change
  const [nft, stake] = [await findNft(tx, asset), await findStake(tx, asset)]
  const collection = change.collection ?? stake?.collection ?? nft?.collection ?? null
  if (collection === null) return []
  const isFreeze = kind === 'frozen'
  const owner = change.owner ?? stake?.owner ?? nft?.owner ?? null
  const place = chainPlaceOf(effects)
  const frozen = isFreeze ? 1 : 0
  if (!isOfStake(effects.changes.wallet, change, owner, stake)) {
    await moveNft(tx, asset, place, { frozen })
    return []
  }
  if (isRepeatedFreeze(change, place, stake)) return []
  // A release repeats the stake's platform id. The record keeps the id of the stake.
  const platform_id = isFreeze ? change.platformId : (stake?.platform_id ?? change.platformId)
  const metadata_json = isFreeze ? effects.transaction.metadata_json : (stake?.metadata_json ?? null)
  const state = { owner, status: isFreeze ? 'staked' : 'unstaked', platform_id } as const
  await writeStake(tx, effects, change, { nft, stake, collection, state })
  await moveNft(tx, asset, place, { collection, frozen, ...(owner === null ? {} : { owner }) })
  const metadata = metadata_json === null ? null : JSON.parse(metadata_json)
  const known = nft === null ? { asset, collection } : { ...nftRecord(nft), collection }
  return [
    assetDraft(effects, isFreeze ? 'stake.acquired' : 'stake.released', { asset, collection, ...state, metadata }),
    assetDraft(effects, isFreeze ? 'nft.staked' : 'nft.unstaked', {
      ...known,
      owner,
      status: 'minted',
      frozen: isFreeze,
    }),
  ]
}

interface StakeWrite {
  nft: Row<'nfts'> | null
  stake: Row<'stakes'> | null
  collection: string
  state: { owner: string | null; status: 'staked' | 'unstaked'; platform_id: string | null }
}

async function writeStake(
  tx: Tx,
  effects: AssetEffects,
  { asset, kind, holder }: FreezeChange,
  { nft, stake, collection, state: { owner, status, platform_id } }: StakeWrite,
): Promise<void> {
  const place = chainPlaceOf(effects)
  const isFreeze = kind === 'frozen'
  // The request fields of a release belong to the release, not to the stake.
  const request = isFreeze
    ? {
        ...originColumns(effects),
        platform_id,
        freeze_authority: holder,
        said_slot: place.slot,
        said_order: place.order,
      }
    : { external_uid: null, metadata_json: null, platform_id }
  if (stake === null) {
    const now = nft?.status === 'burned' ? BURNED_STAKE : ({ owner, status } as const)
    await insertStake(tx, { asset, collection, ...now, ...firstColumns(effects), ...request })
    return
  }
  await moveStake(tx, asset, place, { collection, owner, status })
  // This applies even if a later reading of the chain has updated the record.
  if (isFreeze && !isBefore(place, { slot: stake.said_slot, order: stake.said_order })) {
    await updateStake(tx, asset, request)
  }
}

/**
 * A freeze by another address for the owner, such as a market, is not a stake. With a memo of this service it is one,
 * whatever the address.
 */
function isOfStake(
  wallet: string | null,
  { kind, holder, platformId }: FreezeChange,
  owner: string | null,
  stake: Row<'stakes'> | null,
): boolean {
  if (platformId !== null || (kind === 'released' && stake?.status === 'staked')) return true
  return holder !== null && (holder === owner || holder === wallet)
}

/** The program accepts freezing a frozen asset, but that is not a second stake. A plugin can be added only once. */
const isRepeatedFreeze = (change: FreezeChange, place: AssetPlace, stake: Row<'stakes'> | null): boolean =>
  change.kind === 'frozen' &&
  !change.isNew &&
  change.platformId === null &&
  stake?.status === 'staked' &&
  !isBefore(place, { slot: stake.changed_slot, order: stake.changed_order })

const BURNED_STAKE = { owner: null, status: 'burned' } as const

const assetDraft = (effects: AssetEffects, type: EventType, object: { asset: string } & Record<string, unknown>) =>
  confirmedDraft(effects, {
    type,
    resource_type: type.startsWith('stake.') ? 'stake' : 'nft',
    resource_id: object.asset,
    object,
  })
