/** Decodes instructions of the System, token, associated token, lookup table and memo programs. */
import { MEMO_PROGRAM, MEMO_V1_PROGRAM } from './program-ids.ts'
import { ASSOCIATED_TOKEN } from './programs/associated-token.ts'
import { LOOKUP_TABLE } from './programs/lookup-table.ts'
import { SYSTEM, type SystemInstruction } from './programs/system.ts'
import { type FlatCall, programTable } from './programs/table.ts'
import { TOKEN, TOKEN_2022, type TokenInstruction } from './programs/token.ts'

const MEMO_ROWS = { instructions: { memo: ['', 'signers:s*', 'text:text'] } } as const
/** Memos of both versions: their signers attest the text. */
export const MEMO = programTable(MEMO_PROGRAM, MEMO_ROWS)
const MEMO_V1 = programTable(MEMO_V1_PROGRAM, MEMO_ROWS)

/** A decoded instruction and its program. Both token programs are `token`, as their instructions are the same. */
export type DecodedInstruction =
  | { program: 'system'; instruction: SystemInstruction }
  | { program: 'token'; instruction: TokenInstruction }
  | { program: 'associated-token'; instruction: FlatCall<typeof ASSOCIATED_TOKEN.rows.instructions> }
  | { program: 'lookup-table'; instruction: FlatCall<typeof LOOKUP_TABLE.rows.instructions> }
  | { program: 'memo'; instruction: FlatCall<typeof MEMO_ROWS.instructions> }

const TABLES = [
  ['system', SYSTEM],
  ['token', TOKEN],
  ['token', TOKEN_2022],
  ['associated-token', ASSOCIATED_TOKEN],
  ['lookup-table', LOOKUP_TABLE],
  ['memo', MEMO],
  ['memo', MEMO_V1],
] as const
const BY_PROGRAM = new Map(TABLES.map(([program, table]) => [table.id, { program, table }]))

/**
 * Decodes an instruction; null for an unknown program or instruction, and for truncated data or accounts.
 *
 * @example
 * decodeInstruction(MEMO_PROGRAM, [], new TextEncoder().encode('hello'))
 * // { program: 'memo', instruction: { type: 'memo', signers: [], text: 'hello' } }
 */
export function decodeInstruction(
  programId: string,
  accounts: readonly string[],
  data: Uint8Array,
): DecodedInstruction | null {
  const known = BY_PROGRAM.get(programId)
  const instruction = known?.table.flatCall(programId, accounts, data) ?? null
  return known === undefined || instruction === null
    ? null
    : ({ program: known.program, instruction } as DecodedInstruction)
}

/** The tables of these programs. */
export const PLAIN_TABLES = TABLES.map(([, table]) => table)
