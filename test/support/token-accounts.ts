/** The bytes of mints and token accounts of either token program, as tests put them on an embedded chain. */

import type { AuthorityTransfer, TokenProgram } from '../../src/chain/programs/tokens/index.ts'
import { addressOf } from '../../src/solana/addresses.ts'
import { TOKEN } from '../../src/solana/programs/token.ts'
import { plainMint, plainTokenAccount } from '../../src/solana/token-accounts.ts'

/** Extensions of Token-2022: type and bytes. */
export type TokenExtensions = readonly (readonly [type: number, bytes: Uint8Array])[]

/** A mint without authorities. */
export const mintData = (decimals: number, supply = 0n): Buffer => Buffer.from(plainMint(decimals, supply))

export interface TokenAccount {
  owner: Uint8Array
  amount: bigint
  frozen?: boolean
}

export function tokenAccountData(mint: Uint8Array, { owner, amount, frozen = false }: TokenAccount): Buffer {
  const data = Buffer.from(plainTokenAccount({ mint: addressOf(mint), owner: addressOf(owner), amount }))
  data[TOKEN.offsetOf('account', 'state')] = frozen ? 2 : 1
  return data
}

/** Type, length and bytes of each extension after the base layout of a mint (1) or an account (2), padded to an account's. */
export function extended(base: Uint8Array, kind: 1 | 2, extensions: TokenExtensions): Buffer {
  const head = Buffer.alloc(166)
  head.set(base)
  head[165] = kind
  const parts = extensions.map(([type, bytes]) => {
    const entry = Buffer.alloc(4 + bytes.length)
    entry.writeUInt16LE(type, 0)
    entry.writeUInt16LE(bytes.length, 2)
    entry.set(bytes, 4)
    return entry
  })
  return Buffer.concat([head, ...parts])
}

/** What the authority of a token that svc has made needs to know of it; nobody can move its metadata's pointer. */
export const createdToken = (tokenProgram: TokenProgram): AuthorityTransfer['token'] => ({
  tokenProgram,
  metadata: {
    ...{ name: '', symbol: '', uri: '', updateAuthority: null, isMutable: true },
    source: tokenProgram === 'spl' ? 'metaplex' : 'extension',
  },
  metadataPointerAuthority: null,
})
