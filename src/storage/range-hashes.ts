/** Hashes of each range of an object that was compared as a whole. They ensure that later answers have the same bytes. */
import { createHash } from 'node:crypto'
import type { AssetPiece } from './checked-content.ts'

const HASH_BYTES = 32
/** Bytes of cached hashes: enough for about ten thousand images of 5 MiB. */
const MOST_HASH_BYTES = 8 * 1024 * 1024

export class RangeHashes {
  readonly #hashes: Buffer

  constructor(hashes: readonly Uint8Array[]) {
    this.#hashes = Buffer.concat(hashes)
  }

  get bytes(): number {
    return this.#hashes.byteLength
  }

  /** Whether the range with this number, from 0, has these bytes. */
  hasRange(number: number, piece: AssetPiece): boolean {
    const own = this.#hashes.subarray(number * HASH_BYTES, (number + 1) * HASH_BYTES)
    return own.byteLength > 0 && own.equals(createHash('sha256').update(piece).digest())
  }
}

/** Caches the hashes of the objects that were read last, by the version that was compared. */
export class ComparedObjects {
  readonly #objects = new Map<string, { version: string; hashes: RangeHashes }>()
  #bytes = 0

  get(cid: string, version: string): RangeHashes | null {
    const known = this.#objects.get(cid)
    if (known?.version !== version) return null
    // The map is ordered by the last use.
    this.#objects.delete(cid)
    this.#objects.set(cid, known)
    return known.hashes
  }

  set(cid: string, version: string, hashes: RangeHashes): void {
    this.#remove(cid)
    this.#objects.set(cid, { version, hashes })
    this.#bytes += hashes.bytes
    for (const oldest of this.#objects.keys()) {
      if (this.#bytes <= MOST_HASH_BYTES) return
      this.#remove(oldest)
    }
  }

  #remove(cid: string): void {
    this.#bytes -= this.#objects.get(cid)?.hashes.bytes ?? 0
    this.#objects.delete(cid)
  }
}
