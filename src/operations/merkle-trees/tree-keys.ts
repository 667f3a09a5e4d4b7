/** Converts addresses and hashes of merkle trees to bytes, after a schema or the chain has validated their text. */
import { keyFromBase58 } from '../../merkle/base58.ts'
import { hashFromHex } from '../../merkle/tree.ts'
import { encodeTreeId } from '../../merkle/tree-id.ts'

/** Returns the 32 bytes of an address. Throws a plain Error, because the text was validated before. */
export function keyBytesOf(address: string): Uint8Array {
  const bytes = keyFromBase58(address)
  if (bytes === undefined) throw new Error(`${address} was taken for an address`)
  return bytes
}

/** Returns the 32 bytes of a hash in hex. Throws a plain Error, because the text was validated before. */
export function hashBytesOf(hex: string): Uint8Array {
  const bytes = hashFromHex(hex)
  if (bytes === undefined) throw new Error(`${hex} was taken for a SHA-256 in hex`)
  return bytes
}

/** Returns the id of the tree that belongs to an airdrop of the mint. */
export const treeIdOf = (mint: string, airdropCount: number): string => encodeTreeId(keyBytesOf(mint), airdropCount)
