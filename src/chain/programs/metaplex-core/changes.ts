/** What a transaction does to assets of Metaplex Core, by its own instructions and the memos beside them. */

import { base58 } from '@scure/base'
import { borshReader } from '../../../solana/borsh.ts'
import type { CompiledInstruction, DecodedMessage } from '../../../solana/messages.ts'
import { MEMO_PROGRAM } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { readStakeMemo } from './memos.ts'

interface ChangedAsset {
  asset: string
  /** Null outside of collections. */
  collection: string | null
}

interface Staked extends ChangedAsset {
  /** Null where the instruction does not tell it. */
  owner: string | null
  /** Who can thaw it, or has done so: an address, the owner's too; null for a class of keys, as the update authority is. */
  holder: string | null
  /** The platform that the asset's memo names; null without a memo. */
  platformId: string | null
}

export type AssetChange =
  | ({ kind: 'minted'; owner: string; name: string; uri: string } & ChangedAsset)
  | ({ kind: 'frozen'; isNew: boolean } & Staked)
  | ({ kind: 'released' } & Staked)
  | ({ kind: 'transferred'; owner: string } & ChangedAsset)
  | ({ kind: 'burned' } & ChangedAsset)

/** First byte of the instructions' data (mpl-core, `MplAssetInstruction`). */
const [CREATE_V1, ADD_PLUGIN, REMOVE_PLUGIN, UPDATE_PLUGIN, BURN, TRANSFER, CREATE_V2] = [0, 2, 4, 6, 12, 14, 20]
/** Second byte of the plugin instructions: `PluginType`; the third says whether it is frozen. */
const FREEZE_DELEGATE = 1
/** Codes of `PluginAuthority`, which stands behind the plugin in the data. */
const [OWNER, ADDRESS] = [1, 3]

/**
 * Changes are in the order of the message, and say nothing of whether the transaction succeeds. Not seen are calls that programs make,
 * plugins that an asset is minted with, and what is done to or with accounts from lookup tables.
 */
export function assetChangesIn({ keys, instructions }: DecodedMessage): AssetChange[] {
  const memos = instructions.flatMap(({ programIdIndex, accounts, data }) => {
    const memo = keys[programIdIndex] === MEMO_PROGRAM ? readStakeMemo(data) : null
    return memo === null ? [] : [{ ...memo, signer: keyAt(keys, accounts[0]) }]
  })
  const changes: AssetChange[] = []
  for (const instruction of instructions) {
    if (keys[instruction.programIdIndex] !== PROGRAMS.core.id) continue
    const read = accountReaderOf(keys, instruction)
    const asset = read(0)
    if (!asset) continue
    const change = assetChangeOf(asset, instruction.data, read)
    if (change?.kind === 'frozen' || change?.kind === 'released') {
      const verb = change.kind === 'frozen' ? 'stake' : 'release'
      const memo = memos.find((each) => each.verb === verb && each.asset === asset)
      const acting = actingIn(read)
      if (memo !== undefined && memo.signer === acting) change.owner ??= acting
      changes.push({ ...change, platformId: memo?.platformId ?? null })
    } else if (change !== null) {
      changes.push(change)
    } else if (isRemoval(instruction.data)) {
      // The owner's, while a release before it may have been another's.
      const release = changes.findLast((each) => each.kind === 'released' && each.asset === asset)
      if (release?.kind === 'released') release.owner ??= actingIn(read)
    }
  }
  return changes
}

/** Null where it is left out, which the program itself in its place says; undefined where a lookup table has it. */
type AccountReader = (place: number) => string | null | undefined

const accountReaderOf =
  (keys: readonly string[], { accounts }: CompiledInstruction): AccountReader =>
  (place) => {
    const index = accounts[place]
    if (index === undefined) return null
    const key = keys[index]
    return key === PROGRAMS.core.id ? null : key
  }

/** A signer, which no lookup table can have. */
const actingIn = (read: AccountReader): string | null => read(3) ?? read(2) ?? null

const keyAt = (keys: readonly string[], index: number | undefined): string | null =>
  index === undefined ? null : (keys[index] ?? null)

const isRemoval = (data: Uint8Array) => data[0] === REMOVE_PLUGIN && data[1] === FREEZE_DELEGATE

/** Null for instructions that do none of it. */
function assetChangeOf(asset: string, data: Uint8Array, read: AccountReader): AssetChange | null {
  const [collection, acting] = [read(1) ?? null, actingIn(read)]
  switch (data[0]) {
    case CREATE_V1:
    case CREATE_V2: {
      const texts = nameAndUriIn(data)
      const owner = [4, 5, 3].map(read).find((key) => key !== null)
      // No owner is better than a wrong one, or one without its collection.
      return texts === null || !owner || read(1) === undefined
        ? null
        : { kind: 'minted', asset, collection, owner, ...texts }
    }
    case ADD_PLUGIN:
      // The owner alone can add it.
      if (data[1] !== FREEZE_DELEGATE || data[2] !== 1) return null
      return {
        kind: 'frozen',
        isNew: true,
        asset,
        collection,
        owner: acting,
        holder: holderIn(data, acting),
        platformId: null,
      }
    case UPDATE_PLUGIN: {
      if (data[1] !== FREEZE_DELEGATE) return null
      const staked = { asset, collection, owner: null, holder: acting, platformId: null }
      return data[2] === 1 ? { kind: 'frozen', isNew: false, ...staked } : { kind: 'released', ...staked }
    }
    case TRANSFER: {
      const owner = read(4)
      return !owner ? null : { kind: 'transferred', asset, collection, owner }
    }
    case BURN:
      return { kind: 'burned', asset, collection }
    default:
      return null
  }
}

/** Who an added plugin is given to: the owner, who adds it, unless the instruction names another. */
function holderIn(data: Uint8Array, owner: string | null): string | null {
  const [isGiven, type] = [data[3], data[4]]
  if (isGiven !== 1 || type === OWNER) return owner
  return type === ADDRESS && data.length >= 37 ? base58.encode(data.subarray(5, 37)) : null
}

/** The texts follow the code and the place of the data; null where they are cut short. */
function nameAndUriIn(data: Uint8Array): { name: string; uri: string } | null {
  const fields = borshReader(data)
  try {
    fields.take(2)
    return { name: storable(fields.string()), uri: storable(fields.string()) }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Texts of strangers may hold anything, and PostgreSQL keeps no NUL. */
export const storable = (text: string): string => text.replaceAll('\0', '')
