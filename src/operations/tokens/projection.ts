/** Projects confirmed transactions onto tokens: creations, changes, closings, authorities revoked or given away. */

import type { TrackedResource } from '../../api/index.ts'
import {
  type MetadataChange,
  metadataAddressOf,
  metadataChangesIn,
  type OnChainToken,
  readTokens,
  type TokenChange,
  tokenChangesIn,
  tokenReadCalls,
  tokenStatus,
} from '../../chain/programs/tokens/index.ts'
import { confirmedDraft } from '../../following/chain-drafts.ts'
import type { Effects, Projection, SubmissionContext } from '../../following/projection.ts'
import { isAddress } from '../../solana/addresses.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import { followedAbout, type NewFollowedAccount } from '../../store/following/followed-accounts.ts'
import { newTokens } from '../../store/following/newcomers.ts'
import { findToken, insertToken, storedSymbol, updateToken } from '../../store/resources/tokens.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { rawTokenOf } from './raw-token.ts'

/** Of a change of Metaplex metadata, only the followed account shows the mint. */
type TokenChanges = readonly (TokenChange | MetadataChange)[]
type TokenEffects = Effects<TokenChanges, OnChainToken>

const ofTokens = (changes: TokenChanges): TokenChange[] => changes.filter((change) => 'mint' in change)

/** The token's authorities are read from the chain, because an instruction shows only the one that it revokes. */
export const tokenProjection: Projection<TokenChanges, OnChainToken> = {
  async changesIn(message, { tracked }: SubmissionContext) {
    const changes = tokenChangesIn(message)
    const mint = tracked?.resource_type === 'token' && isAddress(tracked.resource_id) ? tracked.resource_id : null
    const isKnown = mint === null || changes.some((change) => change.mint === mint)
    if (!isKnown && touches(message, mint)) changes.push({ mint, created: false, revoked: [] })
    const all = [...changes, ...metadataChangesIn(message)]
    return all.length === 0 ? null : all
  },
  async accountsToFollow({ store, clock }, { genesis }) {
    const tokens = await newTokens(store.db, { genesis, now: clock.now() })
    const accounts = tokens.map(({ mint }): NewFollowedAccount[] => [
      { address: mint, kind: 'mint', watch: 'state' },
      { address: metadataAddressOf(mint), kind: 'metadata', watch: 'state', about: mint },
    ])
    return accounts.flat()
  },
  async fieldsOf(reader, { resource_type, resource_id }) {
    const token = resource_type === 'token' ? await findToken(reader, resource_id) : null
    return token && { mint: token.mint, status: token.status }
  },
  async ofRecords(reader, changes, genesis) {
    const kept: TokenChange[] = []
    for (const change of changes) {
      const one = 'mint' in change ? change : await tokenOfMetadata(reader, change, genesis)
      if (one === null || (await findToken(reader, one.mint)) === null) continue
      const at = kept.findIndex(({ mint }) => mint === one.mint)
      const other = kept[at]
      if (other === undefined) kept.push(one)
      else kept[at] = { ...other, revoked: [...other.revoked, ...one.revoked] }
    }
    return kept.length === 0 ? null : kept
  },
  chainState: {
    addressesOf: (changes) => ofTokens(changes).map(({ mint }) => mint),
    callsFor: tokenReadCalls,
    async read(chain, mints, slot) {
      const states = await readTokens(chain, mints, slot)
      return new Map(states.flatMap((state) => (state === null ? [] : [[state.mint, state] as const])))
    },
  },
  async write(tx, effects) {
    const drafts: EventDraft[] = []
    for (const change of ofTokens(effects.changes)) drafts.push(...(await writeTokenChange(tx, effects, change)))
    return drafts
  },
}

async function tokenOfMetadata(
  reader: Reader,
  { metadata, isFrozen }: MetadataChange,
  genesis: string,
): Promise<TokenChange | null> {
  const mint = await followedAbout(reader, genesis, metadata)
  return mint === null ? null : { mint, created: false, revoked: isFrozen ? ['metadata'] : [] }
}

/** The tracked resource is only a hint: the transaction itself must name the mint, or its metadata. */
function touches({ keys }: DecodedMessage, mint: string): boolean {
  return keys.includes(mint) || keys.includes(metadataAddressOf(mint))
}

async function writeTokenChange(tx: Tx, effects: TokenEffects, change: TokenChange): Promise<EventDraft[]> {
  const { mint, created, revoked } = change
  const state = effects.states.get(mint)
  if (state === undefined) {
    // Its mint is closed, so the chain has nothing about it any more, and lists leave it out.
    if ((await findToken(tx, mint)) !== null) await updateToken(tx, mint, { raw_json: null })
    return []
  }
  const becameImmutable = await writeTokenState(tx, effects, state)
  const events = [
    ...(created ? (['token.created'] as const) : []),
    ...(revoked.includes('mint') ? (['token.mint_authority_revoked'] as const) : []),
    ...(revoked.includes('freeze') ? (['token.freeze_authority_revoked'] as const) : []),
    ...(becameImmutable && isLastRevocation(change, effects.tracked) ? (['token.fully_immutable'] as const) : []),
  ]
  const object = { mint, status: tokenStatus(state) }
  return events.map((type) => confirmedDraft(effects, { type, resource_type: 'token', resource_id: mint, object }))
}

/**
 * Whether this transaction revoked the last authority. Another revocation may have landed before the state was read.
 * The building request knows the answer; without it, a revocation for an existing token counts as the last.
 */
function isLastRevocation({ mint, created, revoked }: TokenChange, tracked: TrackedResource | null): boolean {
  if (tracked?.resource_id === mint) return tracked.related_events.includes('token.fully_immutable')
  return !created && revoked.length > 0
}

/** Revoked authorities never return, so an older reading cannot undo a newer one. */
const STATUS_ORDER = ['created', 'freeze_authority_revoked', 'mint_authority_revoked', 'fully_immutable'] as const

/** Returns whether this made the token fully immutable. */
async function writeTokenState(
  tx: Tx,
  { services, transaction }: Pick<TokenEffects, 'services' | 'transaction'>,
  state: OnChainToken,
): Promise<boolean> {
  const status = tokenStatus(state)
  const raw_json = JSON.stringify(rawTokenOf(state))
  const symbol = storedSymbol(state.metadata?.symbol ?? '')
  const stored = await findToken(tx, state.mint)
  if (stored === null) {
    await insertToken(tx, {
      mint: state.mint,
      status,
      token_program: state.tokenProgram,
      raw_json,
      symbol,
      external_uid: transaction.external_uid,
      metadata_json: transaction.metadata_json,
      created_at: services.clock.now(),
    })
    return status === 'fully_immutable'
  }
  // A mint that was closed and made again starts over.
  const isAnew = stored.raw_json === null
  if (!isAnew && STATUS_ORDER.indexOf(status) < STATUS_ORDER.indexOf(stored.status)) return false
  await updateToken(tx, state.mint, { status, raw_json, symbol })
  return status === 'fully_immutable' && (isAnew || stored.status !== 'fully_immutable')
}
