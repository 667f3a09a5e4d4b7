/** What the decoder of one program's instructions takes. */
import type { ByteReader } from '../byte-reader.ts'

/**
 * Decodes the data in `reader` with the addresses of its accounts; null where it is not an instruction that is known.
 * Throws ShortData where the data ends early; `account` throws it for an account that is not there.
 */
export type InstructionDecoder<T> = (
  reader: ByteReader,
  account: (index: number) => string,
  accounts: readonly string[],
) => T | null
