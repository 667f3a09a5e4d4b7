/** Reads which tokens a transaction creates, changes or closes, and which authorities it revokes or gives away. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import { TOKEN, type TokenInstruction } from '../../../solana/programs/token.ts'
import { TOKEN_METADATA_INTERFACE } from '../../../solana/programs/token-metadata-interface.ts'
import { TOKEN_AUTHORITIES } from '../../../solana/token-authorities.ts'
import type { TokenAuthority } from './types.ts'

export interface TokenChange {
  mint: string
  created: boolean
  /**
   * Revoked authorities in the order mint, freeze, metadata. A mint created without a freeze authority counts as having
   * revoked it. Without any, and for a token that is not created, an authority has another holder, or the mint's data
   * changes. An account that was closed may have been no mint.
   */
  revoked: TokenAuthority[]
}

/**
 * The kinds of SetAuthority that a mint has, and the authority that each gives up. Without its pointer's authority,
 * Token-2022 metadata cannot be replaced any more. Others do not count for the status.
 */
const KINDS: ReadonlyMap<number, TokenAuthority | null> = new Map<number, TokenAuthority | null>([
  ...Object.values(TOKEN_AUTHORITIES).flatMap(({ kind }) => (kind === null ? [] : [[kind, null] as const])),
  [TOKEN_AUTHORITIES.mint.kind, 'mint'],
  [TOKEN_AUTHORITIES.freeze.kind, 'freeze'],
  [TOKEN_AUTHORITIES.metadata_pointer.kind, 'metadata'],
])
/** Other instructions of Token-2022 that change the mint in their first account. */
const MINT_CHANGES: readonly TokenInstruction['type'][] = [
  'closeAccount',
  'withdrawWithheldTokensFromMint',
  'harvestWithheldTokensToMint',
  'setTransferFee',
  'updateDefaultAccountState',
  'updateInterestBearingConfigRate',
  'updateTransferHook',
  'updateMetadataPointer',
  'updateMultiplier',
  'pause',
  'resume',
]
const AUTHORITY_ORDER: readonly TokenAuthority[] = ['mint', 'freeze', 'metadata']

/**
 * Returns one change per mint, in the order of first instructions, whether or not the transaction succeeds. Metaplex
 * metadata, whose instructions need not name the mint, is not included.
 */
export function tokenChangesIn({ keys, instructions }: DecodedMessage): TokenChange[] {
  const changes = new Map<string, { created: boolean; revoked: Set<TokenAuthority> }>()
  for (const { programIdIndex, accounts, data } of instructions) {
    const mint = accounts[0] === undefined ? undefined : keys[accounts[0]]
    const effect = tokenChangeOf(keys[programIdIndex], data)
    if (mint === undefined || effect === null) continue
    const change = changes.get(mint) ?? { created: false, revoked: new Set() }
    change.created ||= effect.created
    if (effect.revoked !== null) change.revoked.add(effect.revoked)
    changes.set(mint, change)
  }
  return Array.from(changes, ([mint, { created, revoked }]) => ({
    mint,
    created,
    revoked: AUTHORITY_ORDER.filter((authority) => revoked.has(authority)),
  }))
}

/** Returns the change to the mint in the instruction's first account, or null when it changes neither its authorities nor creates it. */
function tokenChangeOf(
  program: string | undefined,
  data: Uint8Array,
): { created: boolean; revoked: TokenAuthority | null } | null {
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return null
  const ofMetadata = program === TOKEN_2022_PROGRAM ? TOKEN_METADATA_INTERFACE.nameOf(data) : null
  if (ofMetadata === 'update_token_metadata_authority') {
    const args = TOKEN_METADATA_INTERFACE.argsOf(ofMetadata, data)
    return args && { created: false, revoked: args.new_authority === SYSTEM_PROGRAM ? 'metadata' : null }
  }
  if (ofMetadata === 'update_token_metadata_field' || ofMetadata === 'remove_token_metadata_key')
    return { created: false, revoked: null }
  const call = TOKEN.callOf(TOKEN.id, [], data)
  if (call === null) return null
  if (program === TOKEN_2022_PROGRAM && MINT_CHANGES.includes(call.name)) return { created: false, revoked: null }
  if (call.name === 'initializeMint' || call.name === 'initializeMint2')
    return call.args && { created: true, revoked: call.args.freezeAuthority === null ? 'freeze' : null }
  if (call.name !== 'setAuthority' || call.args === null) return null
  const authority = KINDS.get(call.args.kind)
  if (authority === undefined) return null
  return { created: false, revoked: call.args.newAuthority === null ? authority : null }
}
