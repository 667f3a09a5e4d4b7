/** Encodes a borsh string: a length of four bytes, then UTF-8. Both metadata formats use it. */

export function borshString(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(Buffer.byteLength(text))
  return Buffer.concat([length, Buffer.from(text)])
}

/** Reads consecutive fields. Throws RangeError at the end of the data. */
export function borshReader(data: Uint8Array) {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  let offset = 0
  const take = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new RangeError(`${length} bytes wanted at ${offset} of ${bytes.length}`)
    offset += length
    return bytes.subarray(offset - length, offset)
  }
  const u32 = () => take(4).readUInt32LE()
  return {
    take,
    u8: () => take(1).readUInt8(),
    u32,
    /** Reads a string without the zeros with which Metaplex pads it. */
    string: () => take(u32()).toString('utf8').replace(/\0+$/, ''),
  }
}
