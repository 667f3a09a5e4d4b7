/** Instructions in jsonParsed form: parsed where the program is known to a validator, partially decoded elsewhere. */
import { base58 } from '@scure/base'
import { LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../solana/addresses.ts'
import { ByteReader, ShortData } from '../../../solana/byte-reader.ts'
import { ASSOCIATED_TOKEN_PROGRAM, MEMO_PROGRAMS } from '../../../solana/token-programs.ts'
import { parseAssociatedToken } from './associated-token.ts'
import { parseLookupTable } from './lookup-table.ts'
import type { InstructionParser } from './parsed.ts'
import { parseSystem } from './system.ts'
import { parseToken } from './token.ts'

const parseMemo = (data: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(data)

const PARSERS: Readonly<Record<string, readonly [program: string, parse: InstructionParser]>> = {
  [SYSTEM_PROGRAM]: ['system', parseSystem],
  [TOKEN_PROGRAM]: ['spl-token', parseToken],
  // A validator names both token programs the same in instructions, though not in accounts.
  [TOKEN_2022_PROGRAM]: ['spl-token', parseToken],
  [ASSOCIATED_TOKEN_PROGRAM]: ['spl-associated-token-account', parseAssociatedToken],
  [LOOKUP_TABLE_PROGRAM]: ['address-lookup-table', parseLookupTable],
}

function parse(programId: string, accounts: readonly string[], data: Uint8Array) {
  if (MEMO_PROGRAMS.includes(programId)) return { program: 'spl-memo', parsed: parseMemo(data) }
  const parser = PARSERS[programId]
  if (!parser) return null
  const at = (index: number): string => {
    const address = accounts[index]
    if (address === undefined) throw new ShortData()
    return address
  }
  const parsed = parser[1](new ByteReader(data), at, accounts)
  return parsed && { program: parser[0], parsed }
}

export interface RawInstruction {
  programIdIndex: number
  accounts: readonly number[] | Uint8Array
  data: Uint8Array
  stackHeight?: number
}

/** One instruction; `keys` are the message's static and loaded addresses. */
export function parseInstruction(instruction: RawInstruction, keys: readonly string[]): object {
  const { data, stackHeight = 1 } = instruction
  const programId = keys[instruction.programIdIndex] ?? ''
  const accounts = Array.from(instruction.accounts, (index) => keys[index] ?? '')
  try {
    const parsed = parse(programId, accounts, data)
    if (parsed) return { ...parsed, programId, stackHeight }
  } catch (error) {
    if (!(error instanceof ShortData || error instanceof TypeError)) throw error
  }
  return { programId, accounts, data: base58.encode(data), stackHeight }
}
