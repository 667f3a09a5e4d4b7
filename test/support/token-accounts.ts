/** The bytes of mints and token accounts of either token program, as tests put them on an embedded chain. */

/** Extensions of Token-2022: type and bytes. */
export type TokenExtensions = readonly (readonly [type: number, bytes: Uint8Array])[]

/** A mint without authorities. */
export function mintData(decimals: number, supply = 0n): Buffer {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(supply, 36)
  data[44] = decimals
  data[45] = 1
  return data
}

export interface TokenAccount {
  owner: Uint8Array
  amount: bigint
  frozen?: boolean
}

export function tokenAccountData(mint: Uint8Array, { owner, amount, frozen = false }: TokenAccount): Buffer {
  const data = Buffer.alloc(165)
  data.set(mint, 0)
  data.set(owner, 32)
  data.writeBigUInt64LE(amount, 64)
  data[108] = frozen ? 2 : 1
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
