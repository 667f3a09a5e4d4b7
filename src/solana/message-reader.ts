/** Reads the parts of a message one after another, and names the part that is missing or wrong. */
import { addressOf } from './addresses.ts'
import { type TransactionErrorJson, TransactionRefused } from './execution.ts'

/** Bytes that cannot be decoded as a transaction; `message` describes the error. */
export class MalformedTransaction extends TransactionRefused {
  constructor(reason: string, err: TransactionErrorJson = 'SanitizeFailure') {
    super(err)
    this.message = reason
  }
}

export const malformed = (reason: string) => new MalformedTransaction(`The transaction cannot be read: ${reason}`)

export class MessageReader {
  readonly bytes: Uint8Array
  offset = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  byte(what: string): number {
    const byte = this.bytes[this.offset]
    if (byte === undefined) throw malformed(`it ends before ${what}`)
    this.offset++
    return byte
  }

  take(length: number, what: string): Uint8Array {
    const end = this.offset + length
    if (end > this.bytes.length) throw malformed(`it ends before ${what}`)
    const taken = this.bytes.subarray(this.offset, end)
    this.offset = end
    return taken
  }

  /** Reads a compact-u16 of one to three bytes; only the shortest form is valid. */
  length(what: string): number {
    let value = 0
    for (let i = 0; i < 3; i++) {
      const byte = this.byte(what)
      if (i > 0 && byte === 0) throw malformed(`the number of ${what} is not in its shortest form`)
      value |= (byte & 0x7f) << (7 * i)
      if ((byte & 0x80) === 0) {
        if (value > 0xffff) break
        return value
      }
    }
    throw malformed(`the number of ${what} is above 65,535`)
  }

  u16(what: string): number {
    return this.byte(what) | (this.byte(what) << 8)
  }

  u32(what: string): number {
    return this.u16(what) + this.u16(what) * 0x1_00_00
  }

  u64(what: string): bigint {
    return BigInt(this.u32(what)) + (BigInt(this.u32(what)) << 32n)
  }

  key(what: string): string {
    return addressOf(this.take(32, what))
  }

  /** Throws MalformedTransaction unless everything was read. */
  end(): void {
    const left = this.bytes.length - this.offset
    if (left > 0) throw malformed(`${left} bytes follow its end`)
  }
}
