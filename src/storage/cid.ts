/** Names assets by the hash of their content, and detects their type by their first bytes. */
import { createHash } from 'node:crypto'
import { imageTypeOf } from './image-structure.ts'

/** CIDv1 with raw codec and sha2-256 of 32 bytes. These determine the constant first characters; the digest follows. */
const CID = /^bafkrei[a-z2-7]{52}$/
const SHA2_256 = 0x12

export const isCid = (text: string): boolean => CID.test(text)

/** Returns the CIDv1 of the bytes as one raw block, in base32. */
export const cidOf = (bytes: Uint8Array): Promise<string> => cidOfDigest(createHash('sha256').update(bytes).digest())

/** Returns the CIDv1 of the content with this SHA-256 digest. */
export async function cidOfDigest(sha256: Uint8Array): Promise<string> {
  const [{ CID }, raw, digest] = await Promise.all([
    import('multiformats/cid'),
    import('multiformats/codecs/raw'),
    import('multiformats/hashes/digest'),
  ])
  return CID.createV1(raw.code, digest.create(SHA2_256, sha256)).toString()
}

/**
 * Determines the content type from the first bytes. These suffice, because only validated images and the service's own
 * JSON are stored.
 */
export function contentTypeOf(start: Uint8Array): string {
  const type = imageTypeOf(start)
  if (type !== undefined) return `image/${type}`
  return start[0] === 0x7b ? 'application/json' : 'application/octet-stream'
}
