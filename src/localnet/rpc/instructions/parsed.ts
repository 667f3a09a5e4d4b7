/** What a parser of one program's instructions takes and gives. */
import type { ByteReader } from '../../../solana/byte-reader.ts'

export interface ParsedInstruction {
  type: string
  info: Record<string, unknown>
}

/**
 * Parses the data in `reader` with the addresses of its accounts; null when it is not an instruction it knows.
 * Throws ShortData when the data ends early; `account` throws it for an account that is not there.
 */
export type InstructionParser = (
  reader: ByteReader,
  account: (index: number) => string,
  accounts: readonly string[],
) => ParsedInstruction | null
