/** Reads which tokens a transaction creates and which authorities it revokes, by its own instructions. */

import { createHash } from 'node:crypto'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/program-ids.ts'
import type { TokenAuthority } from './types.ts'

export interface TokenChange {
  mint: string
  created: boolean
  /**
   * Revoked authorities in the order mint, freeze, metadata. A mint created without a freeze authority counts as having
   * revoked it.
   */
  revoked: TokenAuthority[]
}

const [INITIALIZE_MINT, SET_AUTHORITY, INITIALIZE_MINT_2] = [0, 6, 20]
/** Values of `AuthorityType` in SetAuthority. */
const MINT_OR_FREEZE: readonly (TokenAuthority | undefined)[] = ['mint', 'freeze']
/** Instruction of the token metadata interface that sets the update authority, which follows in the data. */
const UPDATE_AUTHORITY_DISCRIMINATOR = createHash('sha256')
  .update('spl_token_metadata_interface:update_the_authority')
  .digest()
  .subarray(0, 8)
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

/** Returns the change to the mint in the instruction's first account, or null when it neither creates nor revokes. */
function tokenChangeOf(
  program: string | undefined,
  data: Uint8Array,
): { created: boolean; revoked: TokenAuthority | null } | null {
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return null
  if (
    program === TOKEN_2022_PROGRAM &&
    data.length >= 40 &&
    UPDATE_AUTHORITY_DISCRIMINATOR.equals(data.subarray(0, 8))
  ) {
    return data.subarray(8, 40).every((byte) => byte === 0) ? { created: false, revoked: 'metadata' } : null
  }
  if (data[0] === INITIALIZE_MINT || data[0] === INITIALIZE_MINT_2) {
    // Decimals and mint authority precede the freeze authority.
    const freeze = optionAt(data, 34)
    return freeze === null ? null : { created: true, revoked: freeze === 'none' ? 'freeze' : null }
  }
  if (data[0] === SET_AUTHORITY) {
    const revoked = MINT_OR_FREEZE[data[1] ?? -1]
    return revoked !== undefined && optionAt(data, 2) === 'none' ? { created: false, revoked } : null
  }
  return null
}

/** Reads an optional key: a presence byte, then the key. Returns null for data that the program would refuse. */
function optionAt(data: Uint8Array, offset: number): 'none' | 'some' | null {
  if (data[offset] === 0) return 'none'
  return data[offset] === 1 && data.length >= offset + 33 ? 'some' : null
}
