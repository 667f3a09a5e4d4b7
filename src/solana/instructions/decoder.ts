/** Signature that the instruction decoders of all programs share. */
import type { ByteReader } from '../byte-reader.ts'

/**
 * Decodes the data in `reader` with the addresses of its accounts; null for an unknown instruction. Throws ShortData
 * for truncated data, and so does `account` for a missing account.
 */
export type InstructionDecoder<T> = (
  reader: ByteReader,
  account: (index: number) => string,
  accounts: readonly string[],
) => T | null
