/** What a confirmed transaction did, as records and events: what the chain shows of tokens and pools, and what its sender hinted at. */

import type { Connection } from '@solana/web3.js'
import type { TrackedResource } from '../../../api/index.ts'
import {
  metadataAddressOf,
  type OnChainToken,
  readTokens,
  type TokenChange,
  tokenChangesIn,
  tokenStatus,
} from '../../../chain/programs/tokens/index.ts'
import type { Clock, Services } from '../../../context.ts'
import { isAddress } from '../../../solana/addresses.ts'
import { type DecodedMessage, decodeTransaction } from '../../../solana/messages.ts'
import type { Tx } from '../../../store/store.ts'
import { findToken, insertToken, updateToken } from '../../../store/tokens.ts'
import type { Followed } from '../../../store/transactions.ts'
import type { LateEmission } from '../../emit.ts'
import { rawTokenOf } from '../../tokens/raw-token.ts'
import { type AirdropChange, airdropChangesIn, writeAirdropChanges } from './airdrops.ts'
import { type AssetChange, assetChangesIn, writeAssetChanges } from './assets.ts'
import { type GoldLockChange, goldLockChangesIn, writeGoldLockChanges } from './gold-locks.ts'
import { hintedEvents } from './hints.ts'
import { type PoolChange, poolChangesIn, writePoolChanges } from './pools.ts'

/** What a transaction is about, read from its own bytes and its hint; `tokens` by mint. */
export interface Landing {
  hint: TrackedResource | null
  pools: readonly PoolChange[]
  airdrops: readonly AirdropChange[]
  assets: readonly AssetChange[]
  /** Of the platform, where assets change. */
  wallet: string | null
  goldLocks: readonly GoldLockChange[]
  tokens: ReadonlyMap<string, TokenChange>
}

const nothing = (mint: string): TokenChange => ({ mint, created: false, revoked: [] })

/** Of the platform: locks of `goldMint` alone are gold locks, and what its `wallet` freezes are stakes. */
export interface Place {
  goldMint: string | undefined
  /** Asked only where it matters; null where there is none. */
  wallet: () => Promise<string | null>
}

export async function landingOf(row: Followed, raw: Uint8Array, { goldMint, wallet }: Place): Promise<Landing> {
  const hint = row.tracked_resource_json === null ? null : (JSON.parse(row.tracked_resource_json) as TrackedResource)
  const { message } = decodeTransaction(raw)
  const tokens = new Map(tokenChangesIn(message).map((change) => [change.mint, change]))
  const mint = hint?.resource_type === 'token' && isAddress(hint.resource_id) ? hint.resource_id : null
  if (mint !== null && !tokens.has(mint) && (await touches(message, mint))) tokens.set(mint, nothing(mint))
  const assets = assetChangesIn(message)
  return {
    hint,
    tokens,
    pools: poolChangesIn(message),
    airdrops: airdropChangesIn(message),
    assets,
    wallet: assets.length === 0 ? null : await wallet(),
    goldLocks: goldLockChangesIn(message, goldMint),
  }
}

/** A hint is only a place to look: the transaction must name the mint, or its metadata, itself. */
async function touches({ keys }: DecodedMessage, mint: string): Promise<boolean> {
  return keys.includes(mint) || keys.includes(await metadataAddressOf(mint))
}

/** The tokens of any number of landings as the chain has them, at `slot` or later; absent where no mint is. */
export async function readLandedTokens(
  connection: Connection,
  landings: readonly Landing[],
  slot: number,
): Promise<ReadonlyMap<string, OnChainToken>> {
  const mints = [...new Set(landings.flatMap(({ tokens }) => [...tokens.keys()]))]
  const states = await readTokens(connection, mints, slot)
  return new Map(mints.flatMap((mint, i) => (states[i] ? [[mint, states[i]]] : [])))
}

/** Writes the records of one landing and answers its events; what was written before stays as it is. */
export async function writeLanding(
  tx: Tx,
  services: Pick<Services, 'clock' | 'config'>,
  row: Followed,
  slot: number,
  { hint, tokens, pools, airdrops, assets, wallet, goldLocks }: Landing,
  states: ReadonlyMap<string, OnChainToken>,
): Promise<LateEmission[]> {
  const { clock } = services
  const told: LateEmission[] = []
  const occasion = row.signature
  const seen = { slot, signature: row.signature }
  for (const [mint, change] of tokens) {
    const state = states.get(mint)
    if (state === undefined) continue
    const status = tokenStatus(state)
    const last = (await recordToken(tx, clock, row, state)) && isLast(change, hint)
    const events = [
      ...(change.created ? (['token.created'] as const) : []),
      ...(change.revoked.includes('mint') ? (['token.mint_authority_revoked'] as const) : []),
      ...(change.revoked.includes('freeze') ? (['token.freeze_authority_revoked'] as const) : []),
      ...(last ? (['token.fully_immutable'] as const) : []),
    ]
    const object = { mint, status, ...seen, source: 'chain' }
    told.push(...events.map((type) => ({ type, resource_type: 'token', resource_id: mint, object, occasion, of: row })))
  }
  told.push(...(await writePoolChanges(tx, services, row, slot, pools)))
  told.push(...(await writeAirdropChanges(tx, clock, row, slot, airdrops)))
  told.push(...(await writeAssetChanges(tx, clock, row, slot, assets, wallet)))
  told.push(...(await writeGoldLockChanges(tx, clock, row, slot, goldLocks)))
  if (hint !== null) told.push(...(await hintedEvents(tx, { row, slot, hint, pools, airdrops, told })))
  return told
}

/**
 * Whether this transaction is the one that left nothing: the state was read later, and another may have landed since.
 * The build knows, and says so in its hint; without one, a revocation of a token that was there before is taken for it.
 */
function isLast({ mint, created, revoked }: TokenChange, hint: TrackedResource | null): boolean {
  if (hint?.resource_id === mint) return hint.related_events.includes('token.fully_immutable')
  return !created && revoked.length > 0
}

/** Authorities never come back: a state that was read late cannot undo a newer one. */
const ORDER = ['created', 'freeze_authority_revoked', 'mint_authority_revoked', 'fully_immutable'] as const

/** True where the token has become fully immutable by this. */
async function recordToken(tx: Tx, clock: Clock, row: Followed, state: OnChainToken): Promise<boolean> {
  const status = tokenStatus(state)
  const raw_json = JSON.stringify(rawTokenOf(state))
  const known = await findToken(tx, state.mint)
  if (known === null) {
    await insertToken(tx, {
      mint: state.mint,
      status,
      token_program: state.tokenProgram,
      raw_json,
      external_uid: row.external_uid,
      metadata_json: row.metadata_json,
      created_at: clock.now(),
    })
    return status === 'fully_immutable'
  }
  if (ORDER.indexOf(status) < ORDER.indexOf(known.status)) return false
  await updateToken(tx, state.mint, { status, raw_json })
  return status === 'fully_immutable' && known.status !== 'fully_immutable'
}
