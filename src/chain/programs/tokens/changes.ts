/** Reads which tokens a transaction creates, changes or closes, and which authorities it revokes or gives away. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
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

const [INITIALIZE_MINT, SET_AUTHORITY, INITIALIZE_MINT_2] = [0, 6, 20]
/**
 * The kinds of SetAuthority that a mint has, and the authority that each gives up. Without its pointer's authority,
 * Token-2022 metadata cannot be replaced any more. Others do not count for the status.
 */
const KINDS: ReadonlyMap<number | undefined, TokenAuthority | null> = new Map<
  number | undefined,
  TokenAuthority | null
>([
  ...Object.values(TOKEN_AUTHORITIES).flatMap(({ kind }) => (kind === null ? [] : [[kind, null] as const])),
  [TOKEN_AUTHORITIES.mint.kind, 'mint'],
  [TOKEN_AUTHORITIES.freeze.kind, 'freeze'],
  [TOKEN_AUTHORITIES.metadata_pointer.kind, 'metadata'],
])
const CLOSE_ACCOUNT = 9
/**
 * Other instructions that change the mint in their first account, by their first byte and their second: of transfer
 * fee, default state, interest, hook, metadata pointer, multiplier and pause.
 */
const MINT_INSTRUCTIONS: ReadonlyMap<number | undefined, readonly number[]> = new Map([
  [26, [2, 4, 5]],
  ...[28, 33, 36, 39, 43].map((extension): [number, number[]] => [extension, [1]]),
  [44, [1, 2]],
])
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
  const isOfMint = data[0] === CLOSE_ACCOUNT || MINT_INSTRUCTIONS.get(data[0])?.includes(data[1] ?? -1) === true
  if (program === TOKEN_2022_PROGRAM && isOfMint) return { created: false, revoked: null }
  if (data[0] === INITIALIZE_MINT || data[0] === INITIALIZE_MINT_2) {
    // Decimals and mint authority precede the freeze authority.
    const freeze = optionAt(data, 34)
    return freeze === null ? null : { created: true, revoked: freeze === 'none' ? 'freeze' : null }
  }
  if (data[0] === SET_AUTHORITY) {
    const [authority, to] = [KINDS.get(data[1]), optionAt(data, 2)]
    if (authority === undefined || to === null) return null
    return { created: false, revoked: to === 'none' ? authority : null }
  }
  return null
}

/** Reads an optional key: a presence byte, then the key. Returns null for data that the program would refuse. */
function optionAt(data: Uint8Array, offset: number): 'none' | 'some' | null {
  if (data[offset] === 0) return 'none'
  return data[offset] === 1 && data.length >= offset + 33 ? 'some' : null
}
