/** What a confirmed transaction did to assets: minted, frozen and released as stakes, given away, burned. */
import type { EventType } from '../../../api/envelope.ts'
import { type AssetChange, assetChangesIn } from '../../../chain/programs/metaplex-core/index.ts'
import type { Clock } from '../../../context.ts'
import { isBefore, type Place } from '../../../store/asset-records.ts'
import { findNft, insertNft, moveNft, updateNft } from '../../../store/nfts.ts'
import type { Row } from '../../../store/schema.ts'
import { findStake, insertStake, moveStake, updateStake } from '../../../store/stakes.ts'
import type { Tx } from '../../../store/store.ts'
import type { Followed } from '../../../store/transactions.ts'
import { nftRecord } from '../../api-records.ts'
import type { LateEmission } from '../../emit.ts'

export { type AssetChange, assetChangesIn }

interface Scene {
  tx: Tx
  clock: Clock
  row: Followed
  slot: number
  /** The platform's own. */
  wallet: string | null
}

/**
 * Writes the records and answers the events, in the order of the message. An event tells what its transaction did; the
 * record stays as a later transaction, or a later reading of the chain, has left it.
 */
export async function writeAssetChanges(
  tx: Tx,
  clock: Clock,
  row: Followed,
  slot: number,
  changes: readonly AssetChange[],
  wallet: string | null,
): Promise<LateEmission[]> {
  const scene = { tx, clock, row, slot, wallet }
  const told: LateEmission[] = []
  for (const change of changes) {
    if (change.kind === 'minted') told.push(...(await minted(scene, change)))
    else if (change.kind === 'burned') told.push(...(await burned(scene, change)))
    else if (change.kind === 'transferred') await transferred(scene, change)
    else told.push(...(await staked(scene, change)))
  }
  return told
}

type Change<K extends AssetChange['kind']> = Extract<AssetChange, { kind: K }>

const placeOf = ({ row, slot }: Scene) => ({ slot, order: row.seq })
const ofRequest = ({ row: { external_uid, metadata_json } }: Scene) => ({ external_uid, metadata_json })
const seenIn = (scene: Scene) => ({
  ...ofRequest(scene),
  created_at: scene.clock.now(),
  changed_slot: scene.slot,
  changed_order: scene.row.seq,
})

/** Assets outside of collections have no records. */
async function minted(scene: Scene, { asset, collection, owner, name, uri }: Change<'minted'>) {
  if (collection === null) return []
  const { tx } = scene
  const state = { asset, collection, owner, name, uri, status: 'minted', frozen: 0 } as const
  const inserted = await insertNft(tx, { ...state, ...seenIn(scene) })
  const row = inserted ?? (await findNft(tx, asset))!
  if (inserted === null) {
    // Seen before its mint was: what was said along with the mint is its own, what became of it since is not undone.
    const isNameless = row.name === '' && row.uri === ''
    await updateNft(tx, asset, { ...ofRequest(scene), ...(isNameless ? { name, uri } : {}) })
  }
  return [eventOf(scene, 'nft.created', { ...nftRecord(row), ...state, frozen: false })]
}

async function burned(scene: Scene, { asset, collection: named }: Change<'burned'>) {
  const { tx } = scene
  const known = await findNft(tx, asset)
  const collection = named ?? known?.collection ?? null
  if (collection === null) return []
  const end = { owner: null, status: 'burned', frozen: 0 } as const
  const state = { asset, collection, name: known?.name ?? '', uri: known?.uri ?? '', ...end }
  // Nothing comes after it, whatever slots were seen.
  const { changed_slot, changed_order } = seenIn(scene)
  const row =
    known === null
      ? await insertNft(tx, { ...state, ...seenIn(scene) })
      : await updateNft(tx, asset, { ...end, collection, changed_slot, changed_order })
  await updateStake(tx, asset, { collection, owner: null, status: 'burned', changed_slot, changed_order })
  return [eventOf(scene, 'nft.burned', { ...nftRecord(row!), ...state, frozen: false })]
}

async function transferred(scene: Scene, { asset, collection, owner }: Change<'transferred'>): Promise<void> {
  const now = { owner, ...(collection === null ? {} : { collection }) }
  await moveNft(scene.tx, asset, placeOf(scene), now)
  await moveStake(scene.tx, asset, placeOf(scene), now)
}

async function staked(scene: Scene, change: Change<'frozen' | 'released'>): Promise<LateEmission[]> {
  const { tx, row } = scene
  const { asset, kind } = change
  const [nft, stake] = [await findNft(tx, asset), await findStake(tx, asset)]
  const collection = change.collection ?? stake?.collection ?? nft?.collection ?? null
  if (collection === null) return []
  const isStake = kind === 'frozen'
  const owner = change.owner ?? stake?.owner ?? nft?.owner ?? null
  const place = placeOf(scene)
  const frozen = isStake ? 1 : 0
  if (!isStakes(scene, change, owner, stake)) {
    await moveNft(tx, asset, place, { frozen })
    return []
  }
  if (isRepeated(change, place, stake)) return []
  // A release says again whose stake it was; the record keeps what the stake said.
  const platform_id = isStake ? change.platformId : (stake?.platform_id ?? change.platformId)
  const metadata_json = isStake ? row.metadata_json : (stake?.metadata_json ?? null)
  const status = isStake ? 'staked' : 'unstaked'
  const state = { owner, status, platform_id } as const
  const said = isStake
    ? { ...ofRequest(scene), platform_id, freeze_authority: change.holder, ...saidAt(place) }
    : { ...NOTHING_SAID, platform_id }
  if (stake === null) {
    // Of what was burned meanwhile.
    const now = nft?.status === 'burned' ? BURNED : ({ owner, status } as const)
    await insertStake(tx, { asset, collection, ...now, ...seenIn(scene), ...said })
  } else {
    await moveStake(tx, asset, place, { collection, owner, status })
    // Also where a later reading of the chain has moved the record on.
    if (isStake && !isBefore(place, { slot: stake.said_slot, order: stake.said_order })) {
      await updateStake(tx, asset, said)
    }
  }
  await moveNft(tx, asset, place, { collection, frozen, ...(owner === null ? {} : { owner }) })
  const metadata = metadata_json === null ? null : JSON.parse(metadata_json)
  const known = nft === null ? { asset, collection } : { ...nftRecord(nft), collection }
  return [
    eventOf(scene, isStake ? 'stake.acquired' : 'stake.released', { asset, collection, ...state, metadata }),
    eventOf(scene, isStake ? 'nft.staked' : 'nft.unstaked', { ...known, owner, status: 'minted', frozen: isStake }),
  ]
}

/** What a stranger freezes for the owner, a market for example, is no stake; our memo tells one, whoever holds it. */
function isStakes(
  { wallet }: Scene,
  { kind, holder, platformId }: Change<'frozen' | 'released'>,
  owner: string | null,
  stake: Row<'stakes'> | null,
): boolean {
  if (platformId !== null || (kind === 'released' && stake?.status === 'staked')) return true
  return holder !== null && (holder === owner || holder === wallet)
}

/** Freezing what is frozen passes too, and is no stake again; a plugin is added once. */
const isRepeated = (change: Change<'frozen' | 'released'>, place: Place, stake: Row<'stakes'> | null): boolean =>
  change.kind === 'frozen' &&
  !change.isNew &&
  change.platformId === null &&
  stake?.status === 'staked' &&
  !isBefore(place, { slot: stake.changed_slot, order: stake.changed_order })

const BURNED = { owner: null, status: 'burned' } as const

const saidAt = ({ slot, order }: Place) => ({ said_slot: slot, said_order: order })

/** What comes with a release is the release's own. */
const NOTHING_SAID = { external_uid: null, metadata_json: null }

function eventOf(
  { row, slot }: Scene,
  type: EventType,
  record: { asset: string } & Record<string, unknown>,
): LateEmission {
  return {
    type,
    resource_type: type.startsWith('stake.') ? 'stake' : 'nft',
    resource_id: record.asset,
    object: { ...record, slot, signature: row.signature, source: 'chain' },
    occasion: row.signature,
    of: row,
  }
}
