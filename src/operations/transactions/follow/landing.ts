/** What a confirmed transaction did, as records and events: what the chain shows of tokens, and what its sender hinted at. */

import type { Connection } from '@solana/web3.js'
import type { TrackedResource } from '../../../api/index.ts'
import { decodeTransaction } from '../../../chain/localnet/messages.ts'
import {
  readTokens,
  type TokenChange,
  type TokenState,
  tokenChangesIn,
  tokenStatus,
} from '../../../chain/tokens/index.ts'
import type { Clock } from '../../../context.ts'
import type { Tx } from '../../../store/store.ts'
import { findToken, insertToken, updateToken } from '../../../store/tokens.ts'
import type { Followed } from '../../../store/transactions.ts'
import type { LateEmission } from '../../emit.ts'
import { rawOf } from '../../tokens/raw.ts'

/** What a transaction is about, read from its own bytes and its hint; `tokens` by mint. */
export interface Landing {
  hint: TrackedResource | null
  tokens: ReadonlyMap<string, TokenChange>
}

const nothing = (mint: string): TokenChange => ({ mint, created: false, revoked: [] })

export function landingOf(row: Followed, raw: Uint8Array): Landing {
  const hint = row.tracked_resource_json === null ? null : (JSON.parse(row.tracked_resource_json) as TrackedResource)
  const tokens = new Map(tokenChangesIn(decodeTransaction(raw).message).map((change) => [change.mint, change]))
  if (hint?.resource_type === 'token' && isAddress(hint.resource_id) && !tokens.has(hint.resource_id)) {
    tokens.set(hint.resource_id, nothing(hint.resource_id))
  }
  return { hint, tokens }
}

const isAddress = (text: string) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)

/** The tokens of any number of landings as the chain has them, at `slot` or later; absent where no mint is. */
export async function readLandedTokens(
  connection: Connection,
  landings: readonly Landing[],
  slot: number,
): Promise<ReadonlyMap<string, TokenState>> {
  const mints = [...new Set(landings.flatMap(({ tokens }) => [...tokens.keys()]))]
  const states = await readTokens(connection, mints, slot)
  return new Map(mints.flatMap((mint, i) => (states[i] ? [[mint, states[i]]] : [])))
}

/** Writes the records of one landing and answers its events; what was written before stays as it is. */
export async function writeLanding(
  tx: Tx,
  clock: Clock,
  row: Followed,
  slot: number,
  { hint, tokens }: Landing,
  states: ReadonlyMap<string, TokenState>,
): Promise<LateEmission[]> {
  const told: LateEmission[] = []
  const occasion = row.signature
  const seen = { slot, signature: row.signature }
  for (const [mint, change] of tokens) {
    const state = states.get(mint)
    if (state === undefined) continue
    const status = tokenStatus(state)
    const last = await recordToken(tx, clock, row, state)
    const events = [
      ...(change.created ? (['token.created'] as const) : []),
      ...(change.revoked.includes('mint') ? (['token.mint_authority_revoked'] as const) : []),
      ...(change.revoked.includes('freeze') ? (['token.freeze_authority_revoked'] as const) : []),
      ...(last ? (['token.fully_immutable'] as const) : []),
    ]
    const object = { mint, status, ...seen, source: 'chain' }
    told.push(...events.map((type) => ({ type, resource_type: 'token', resource_id: mint, object, occasion, of: row })))
  }
  if (hint !== null) {
    const { resource_type, resource_id, related_events } = hint
    const object = { ...seen, source: 'hint' }
    // After what the chain shows: of the same event the first is kept.
    told.push(...related_events.map((type) => ({ type, resource_type, resource_id, object, occasion, of: row })))
  }
  return told
}

/** Authorities never come back: a state that was read late cannot undo a newer one. */
const ORDER = ['created', 'freeze_authority_revoked', 'mint_authority_revoked', 'fully_immutable'] as const

/** True where the token has become fully immutable by this. */
async function recordToken(tx: Tx, clock: Clock, row: Followed, state: TokenState): Promise<boolean> {
  const status = tokenStatus(state)
  const raw_json = JSON.stringify(rawOf(state))
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
