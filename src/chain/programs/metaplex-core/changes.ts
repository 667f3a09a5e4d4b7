/** Reads the changes that a transaction makes to assets of Metaplex Core, by its own instructions and its memos. */

import { base58 } from '@scure/base'
import { borshReader } from '../../../solana/borsh.ts'
import type { CompiledInstruction, DecodedMessage } from '../../../solana/decoded-message.ts'
import { MEMO_PROGRAM } from '../../../solana/program-ids.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { readStakeMemo } from './memos.ts'

interface ChangedAsset {
  asset: string
  /** Collection of the asset, or null without one. */
  collection: string | null
}

interface Staked extends ChangedAsset {
  /** Owner of the asset, or null when the instruction does not name it. */
  owner: string | null
  /**
   * Address that can thaw the asset or has thawed it, including its owner's. Null for a class of keys such as the
   * update authority.
   */
  holder: string | null
  /** Platform id in the asset's memo, or null without a memo. */
  platformId: string | null
}

export type AssetChange =
  | ({ kind: 'minted'; owner: string; name: string; uri: string } & ChangedAsset)
  | ({ kind: 'frozen'; isNew: boolean } & Staked)
  | ({ kind: 'released' } & Staked)
  | ({ kind: 'transferred'; owner: string } & ChangedAsset)
  | ({ kind: 'burned' } & ChangedAsset)

/** First byte of the instructions' data (mpl-core, `MplAssetInstruction`). */
const [CREATE_V1, CREATE_COLLECTION_V1, ADD_PLUGIN, REMOVE_PLUGIN, UPDATE_PLUGIN] = [0, 1, 2, 4, 6]
const [BURN, TRANSFER, CREATE_V2, CREATE_COLLECTION_V2] = [12, 14, 20, 21]
/** Second byte of the plugin instructions, a `PluginType`. The third is the frozen flag. */
const FREEZE_DELEGATE = 1
/** Codes of `PluginAuthority`, which follows the plugin in the data. */
const [OWNER, ADDRESS] = [1, 3]

/**
 * Returns changes in the order of the message, whether or not the transaction succeeds. Calls between programs, plugins
 * set at minting, and instructions with accounts from lookup tables are not included.
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
      // Only the owner removes the plugin, while another address may have thawed the asset before.
      const release = changes.findLast((each) => each.kind === 'released' && each.asset === asset)
      if (release?.kind === 'released') release.owner ??= actingIn(read)
    }
  }
  return changes
}

/** Returns the collections that the message's own instructions create. */
export function collectionsCreatedIn({ keys, instructions }: DecodedMessage): string[] {
  return instructions.flatMap(({ programIdIndex, accounts, data }) => {
    const isCreation = data[0] === CREATE_COLLECTION_V1 || data[0] === CREATE_COLLECTION_V2
    if (!isCreation || keys[programIdIndex] !== PROGRAMS.core.id) return []
    const collection = keyAt(keys, accounts[0])
    return collection === null ? [] : [collection]
  })
}

/**
 * Returns null when the account is left out, which the program's own address marks, and undefined when it is from a
 * lookup table.
 */
type AccountReader = (place: number) => string | null | undefined

const accountReaderOf =
  (keys: readonly string[], { accounts }: CompiledInstruction): AccountReader =>
  (place) => {
    const index = accounts[place]
    if (index === undefined) return null
    const key = keys[index]
    return key === PROGRAMS.core.id ? null : key
  }

/** Returns the acting signer. A signer cannot come from a lookup table. */
const actingIn = (read: AccountReader): string | null => read(3) ?? read(2) ?? null

const keyAt = (keys: readonly string[], index: number | undefined): string | null =>
  index === undefined ? null : (keys[index] ?? null)

const isRemoval = (data: Uint8Array) => data[0] === REMOVE_PLUGIN && data[1] === FREEZE_DELEGATE

/** Returns null for instructions without such a change. */
function assetChangeOf(asset: string, data: Uint8Array, read: AccountReader): AssetChange | null {
  const [collection, acting] = [read(1) ?? null, actingIn(read)]
  switch (data[0]) {
    case CREATE_V1:
    case CREATE_V2: {
      const texts = nameAndUriIn(data)
      const owner = [4, 5, 3].map(read).find((key) => key !== null)
      // A missing owner is better than a wrong one, and a mint needs its collection.
      return texts === null || !owner || read(1) === undefined
        ? null
        : { kind: 'minted', asset, collection, owner, ...texts }
    }
    case ADD_PLUGIN:
      // Only the owner can add the plugin.
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

/**
 * Returns the address that an added plugin is given to: the owner, who adds it, unless the instruction names another.
 */
function holderIn(data: Uint8Array, owner: string | null): string | null {
  const [isGiven, type] = [data[3], data[4]]
  if (isGiven !== 1 || type === OWNER) return owner
  return type === ADDRESS && data.length >= 37 ? base58.encode(data.subarray(5, 37)) : null
}

/** Reads the texts after the instruction code and the data state. Returns null when they are truncated. */
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

/** Removes NUL from texts of others, because PostgreSQL cannot store it. */
export const storable = (text: string): string => text.replaceAll('\0', '')
