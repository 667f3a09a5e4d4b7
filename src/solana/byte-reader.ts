/** Reads little-endian fields of account and instruction data. */
import { base58 } from '@scure/base'

/** The data is shorter than its layout; jsonParsed encoding then falls back to bytes. */
export class ShortData extends Error {
  override readonly name = 'ShortData'
}

export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  position: number

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.position = position
  }

  get left(): number {
    return this.#bytes.length - this.position
  }

  take(length: number): Uint8Array {
    if (length > this.left) throw new ShortData()
    this.position += length
    return this.#bytes.subarray(this.position - length, this.position)
  }

  #at(size: number): number {
    if (size > this.left) throw new ShortData()
    this.position += size
    return this.position - size
  }

  u8 = (): number => this.#view.getUint8(this.#at(1))
  u16 = (): number => this.#view.getUint16(this.#at(2), true)
  i16 = (): number => this.#view.getInt16(this.#at(2), true)
  u32 = (): number => this.#view.getUint32(this.#at(4), true)
  u64 = (): bigint => this.#view.getBigUint64(this.#at(8), true)
  u128 = (): bigint => this.u64() + (this.u64() << 64n)
  i64 = (): bigint => this.#view.getBigInt64(this.#at(8), true)
  f64 = (): number => this.#view.getFloat64(this.#at(8), true)
  key = (): string => base58.encode(this.take(32))
  bool = (): boolean => this.u8() !== 0

  /** Reads COption<Pubkey> of account layouts: a u32 tag, then always 32 bytes. */
  optionKey = (): string | null => {
    const set = this.u32() === 1
    const key = this.key()
    return set ? key : null
  }

  /** Reads OptionalNonZeroPubkey; 32 zero bytes mean null. */
  nonZeroKey = (): string | null => {
    const bytes = this.take(32)
    return bytes.some((byte) => byte !== 0) ? base58.encode(bytes) : null
  }

  /** Reads UTF-8 text of a length that the caller has read as a u32 or u64. */
  text = (length: number | bigint): string => {
    if (length > this.left) throw new ShortData()
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.take(Number(length)))
  }
}
