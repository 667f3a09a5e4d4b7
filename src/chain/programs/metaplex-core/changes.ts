/** Reads the changes that a transaction makes to assets of Metaplex Core, by its own instructions and its memos. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { MEMO_PROGRAM } from '../../../solana/program-ids.ts'
import type { Variant } from '../../../solana/programs/field-types.ts'
import { METAPLEX_CORE } from '../../../solana/programs/metaplex-core.ts'

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

type Call = ReturnType<typeof METAPLEX_CORE.callsIn>[number]

/**
 * Returns changes in the order of the message, whether or not the transaction succeeds. Calls between programs, plugins
 * set at minting, and instructions with accounts from lookup tables are not included.
 */
export function assetChangesIn(message: DecodedMessage): AssetChange[] {
  const { keys, instructions } = message
  const memos = instructions.flatMap(({ programIdIndex, accounts, data }) => {
    const memo = keys[programIdIndex] === MEMO_PROGRAM ? readStakeMemo(data) : null
    return memo === null ? [] : [{ ...memo, signer: keys[accounts[0] ?? -1] ?? null }]
  })
  const changes: AssetChange[] = []
  for (const call of METAPLEX_CORE.callsIn(message)) {
    const change = assetChangeOf(call)
    if (change?.kind === 'frozen' || change?.kind === 'released') {
      const verb = change.kind === 'frozen' ? 'stake' : 'release'
      const memo = memos.find((each) => each.verb === verb && each.asset === change.asset)
      const acting = actingIn(call)
      if (memo !== undefined && memo.signer === acting) change.owner ??= acting
      changes.push({ ...change, platformId: memo?.platformId ?? null })
    } else if (change !== null) {
      changes.push(change)
    } else if (call.name === 'remove_plugin_v1' && call.args?.plugin_type.name === FREEZE) {
      // Only the owner removes the plugin, while another address may have thawed the asset before.
      const release = changes.findLast((each) => each.kind === 'released' && each.asset === call.accounts.asset)
      if (release?.kind === 'released') release.owner ??= actingIn(call)
    }
  }
  return changes
}

/** Returns the collections that the message's own instructions create. */
export const collectionsCreatedIn = (message: DecodedMessage): string[] =>
  METAPLEX_CORE.callsIn(message).flatMap(({ name, accounts: { collection } }) => {
    const isCreation = name === 'create_collection_v1' || name === 'create_collection_v2'
    return isCreation && collection ? [collection] : []
  })

/** The plugin that marks a stake. */
const FREEZE = 'FreezeDelegate'

/** Returns the acting signer. A signer cannot come from a lookup table. */
function actingIn({ accounts: { payer, ...others } }: Call): string | null {
  const authority = 'authority' in others ? others.authority : null
  return authority ?? payer ?? null
}

/** Returns null for instructions without such a change. */
function assetChangeOf(call: Call): AssetChange | null {
  if (!('asset' in call.accounts) || call.accounts.asset === undefined) return null
  const { asset } = call.accounts
  const [collection, acting] = [call.accounts.collection ?? null, actingIn(call)]
  switch (call.name) {
    case 'create_v1':
    case 'create_v2': {
      const { owner, update_authority, payer } = call.accounts
      const { name, uri } = call.known
      const first = [owner, update_authority, payer].find((key) => key !== null)
      // A missing owner is better than a wrong one, and a mint needs its collection.
      if (name === undefined || uri === undefined || !first || call.accounts.collection === undefined) return null
      return { kind: 'minted', asset, collection, owner: first, name: storable(name), uri: storable(uri) }
    }
    case 'add_plugin_v1': {
      // Only the owner can add the plugin.
      if (call.args === null || frozenBy(call.args.plugin) !== true) return null
      const holder = holderOf(call.args.init_authority, acting)
      return { kind: 'frozen', isNew: true, asset, collection, owner: acting, holder, platformId: null }
    }
    case 'update_plugin_v1': {
      const isFrozen = call.args && frozenBy(call.args.plugin)
      if (isFrozen === null) return null
      const staked = { asset, collection, owner: null, holder: acting, platformId: null }
      return isFrozen ? { kind: 'frozen', isNew: false, ...staked } : { kind: 'released', ...staked }
    }
    case 'transfer_v1': {
      const { new_owner: owner } = call.accounts
      return owner === undefined ? null : { kind: 'transferred', asset, collection, owner }
    }
    case 'burn_v1':
      return { kind: 'burned', asset, collection }
    default:
      return null
  }
}

/** What the plugin of a stake says; null for another plugin. */
const frozenBy = ({ name, value }: Variant): boolean | null =>
  name === FREEZE ? (value as { frozen: boolean }).frozen : null

/**
 * Returns the address that an added plugin is given to: the owner, who adds it, unless the instruction names another.
 */
function holderOf(given: Variant | null, owner: string | null): string | null {
  if (given === null || given.name === 'Owner') return owner
  return given.name === 'Address' ? (given.value as { address: string }).address : null
}

/** Removes NUL from texts of others, because PostgreSQL cannot store it. */
export const storable = (text: string): string => text.replaceAll('\0', '')

/**
 * Parses the memo of a stake or release (`stakeMemo`). Returns null for another kind of memo. Anyone can write memos, so a platform id that the API would refuse is read as
 * none.
 */
export function readStakeMemo(
  data: Uint8Array,
): { verb: 'stake' | 'release'; asset: string; platformId: string | null } | null {
  const text = Buffer.from(data).toString('utf8')
  const match = /^svc:(stake|release):([1-9A-HJ-NP-Za-km-z]{32,44}):([\s\S]*)$/.exec(text)
  if (match === null) return null
  const [, verb, asset, id] = match as unknown as [string, 'stake' | 'release', string, string]
  return { verb, asset, platformId: isPlatformId(id) ? id : null }
}

const LONGEST_ID = 64
const isPlatformId = (id: string) => id.length > 0 && id.length <= LONGEST_ID && !/\p{Cc}/u.test(id)
