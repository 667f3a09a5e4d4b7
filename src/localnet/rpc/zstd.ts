/** Writes zstd frames of raw blocks: every decoder reads them, but nothing is compressed (RFC 8878, sections 3.1.1 and 3.1.1.2). */

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
const MAX_BLOCK = 128 * 1024
/** Frame header descriptor: single segment, eight bytes of content size, no checksum. */
const DESCRIPTOR = 0b1110_0000

/** Wraps data in a zstd frame. Node 20's zlib has no zstd, and most clients use `base64+zstd` only by default. */
export function zstdFrame(data: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(data.length / MAX_BLOCK))
  const frame = new Uint8Array(13 + blocks * 3 + data.length)
  frame.set([...ZSTD_MAGIC, DESCRIPTOR])
  new DataView(frame.buffer).setBigUint64(5, BigInt(data.length), true)
  let at = 13
  for (let block = 0; block < blocks; block++) {
    const part = data.subarray(block * MAX_BLOCK, (block + 1) * MAX_BLOCK)
    const header = (part.length << 3) | (block === blocks - 1 ? 1 : 0)
    frame.set([header & 0xff, (header >> 8) & 0xff, header >> 16], at)
    frame.set(part, at + 3)
    at += 3 + part.length
  }
  return frame
}
