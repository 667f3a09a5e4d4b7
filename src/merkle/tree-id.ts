/** Id of a tree and its airdrop: base64url(mint 32 bytes ‖ airdrop_count u16 big-endian), 46 characters, no padding. */

/** Largest airdrop_count, a u16. */
export const MAX_AIRDROP_COUNT = 65_535

/** Encodes the id. Throws RangeError when the mint does not have 32 bytes or the count is not a u16. */
export function encodeTreeId(mint: Uint8Array, airdropCount: number): string {
  if (mint.length !== 32) throw new RangeError(`a mint has 32 bytes, not ${mint.length}`)
  if (!Number.isInteger(airdropCount) || airdropCount < 0 || airdropCount > MAX_AIRDROP_COUNT) {
    throw new RangeError(`airdrop_count ${airdropCount} is not 0 to ${MAX_AIRDROP_COUNT}`)
  }
  const bytes = Buffer.alloc(34)
  bytes.set(mint)
  bytes.writeUInt16BE(airdropCount, 32)
  return bytes.toString('base64url')
}

/** Decodes mint and count of an id; undefined unless it is exactly the output of `encodeTreeId`. */
export function decodeTreeId(id: string): { mint: Uint8Array; airdropCount: number } | undefined {
  if (!/^[\w-]{46}$/.test(id)) return undefined
  const bytes = Buffer.from(id, 'base64url')
  if (bytes.length !== 34 || bytes.toString('base64url') !== id) return undefined
  return { mint: new Uint8Array(bytes.subarray(0, 32)), airdropCount: bytes.readUInt16BE(32) }
}
