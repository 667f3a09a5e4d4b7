/** Decodes instructions of the System, token, associated token, lookup table and memo programs. */

import { ByteReader, ShortData } from '../byte-reader.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../program-ids.ts'
import { MEMO_PROGRAMS } from '../token-programs.ts'
import { type AssociatedTokenInstruction, decodeAssociatedToken } from './associated-token.ts'
import { decodeLookupTable, type LookupTableInstruction } from './lookup-table.ts'
import { decodeSystem, type SystemInstruction } from './system.ts'
import { decodeTokenInstruction, type TokenInstruction } from './token.ts'

export type { AssociatedTokenInstruction, LookupTableInstruction, SystemInstruction, TokenInstruction }

/** A decoded instruction and its program. Both token programs are `token`, as their instructions are the same. */
export type DecodedInstruction =
  | { program: 'system'; instruction: SystemInstruction }
  | { program: 'token'; instruction: TokenInstruction }
  | { program: 'associated-token'; instruction: AssociatedTokenInstruction }
  | { program: 'lookup-table'; instruction: LookupTableInstruction }
  | { program: 'memo'; instruction: { type: 'memo'; text: string } }

type ProgramDecoder = (
  reader: ByteReader,
  at: (index: number) => string,
  all: readonly string[],
) => DecodedInstruction | null

const PROGRAM_DECODERS: ReadonlyMap<string, ProgramDecoder> = new Map<string, ProgramDecoder>([
  [SYSTEM_PROGRAM, (...args) => of('system', decodeSystem(...args))],
  [TOKEN_PROGRAM, (...args) => of('token', decodeTokenInstruction(...args))],
  [TOKEN_2022_PROGRAM, (...args) => of('token', decodeTokenInstruction(...args))],
  [ASSOCIATED_TOKEN_PROGRAM, (...args) => of('associated-token', decodeAssociatedToken(...args))],
  [LOOKUP_TABLE_PROGRAM, (...args) => of('lookup-table', decodeLookupTable(...args))],
])

const of = <P extends string, I>(program: P, instruction: I | null) =>
  instruction === null ? null : { program, instruction }

/**
 * Decodes an instruction; null for an unknown program or instruction, and for truncated data or accounts.
 *
 * @example
 * decodeInstruction(MEMO_PROGRAM, [], new TextEncoder().encode('hello'))
 * // { program: 'memo', instruction: { type: 'memo', text: 'hello' } }
 */
export function decodeInstruction(
  programId: string,
  accounts: readonly string[],
  data: Uint8Array,
): DecodedInstruction | null {
  return readInstruction(programId, accounts, new ByteReader(data))
}

/** The same, from a reader that stops after the last byte that the instruction has a meaning for. */
export function readInstruction(
  programId: string,
  accounts: readonly string[],
  reader: ByteReader,
): DecodedInstruction | null {
  const at = (index: number): string => {
    const address = accounts[index]
    if (address === undefined) throw new ShortData()
    return address
  }
  try {
    if (MEMO_PROGRAMS.includes(programId)) {
      return { program: 'memo', instruction: { type: 'memo', text: reader.text(reader.left) } }
    }
    return PROGRAM_DECODERS.get(programId)?.(reader, at, accounts) ?? null
  } catch (error) {
    // TextDecoder throws a TypeError for text that is not UTF-8.
    if (error instanceof ShortData || error instanceof TypeError) return null
    throw error
  }
}
