/** Integers as programs on chain store them. */
export function u64(value: bigint | number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
