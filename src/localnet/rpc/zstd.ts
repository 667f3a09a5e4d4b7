/** Writes zstd frames: compressed if Node can, otherwise of raw blocks, which every decoder reads (RFC 8878). */
import * as zlib from 'node:zlib'

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
const MAX_BLOCK = 128 * 1024
/** Frame header as a validator's encoder writes it: no content size, no checksum, and a window of 2 MiB. */
const HEADER = [...ZSTD_MAGIC, 0x00, 0x58]

/** Node has it from 22.15 on. */
type Compress = (data: Uint8Array) => Uint8Array
const { zstdCompressSync: compress } = zlib as unknown as { zstdCompressSync?: Compress }

/** Returns data as a zstd frame, compressed like a validator's if this Node has zstd. */
export const zstdFrame = (data: Uint8Array): Uint8Array => compress?.(data) ?? rawFrame(data)

/** Wraps data in a frame whose blocks are not compressed (sections 3.1.1 and 3.1.1.2). */
export function rawFrame(data: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(data.length / MAX_BLOCK))
  const frame = new Uint8Array(HEADER.length + blocks * 3 + data.length)
  frame.set(HEADER)
  let at = HEADER.length
  for (let block = 0; block < blocks; block++) {
    const part = data.subarray(block * MAX_BLOCK, (block + 1) * MAX_BLOCK)
    const header = (part.length << 3) | (block === blocks - 1 ? 1 : 0)
    frame.set([header & 0xff, (header >> 8) & 0xff, header >> 16], at)
    frame.set(part, at + 3)
    at += 3 + part.length
  }
  return frame
}
