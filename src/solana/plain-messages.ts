/** Distinguishes messages whose bytes show everything that they do from those that only a run on the chain can show. */
import type { CompiledInstruction, DecodedMessage } from './decoded-message.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from './program-ids.ts'
import { METAPLEX_CORE } from './programs/metaplex-core.ts'
import { PROGRAMS } from './programs.ts'

/** Programs whose instructions and inner calls are known, except those of `isOpenCall`. */
const KNOWN_PROGRAMS: ReadonlySet<string> = new Set([
  ...Object.values(PROGRAMS).map(({ id }) => id),
  ...[SYSTEM_PROGRAM, COMPUTE_BUDGET_PROGRAM, LOOKUP_TABLE_PROGRAM, MEMO_PROGRAM, MEMO_V1_PROGRAM],
  ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM],
])

/** Token-2022's instructions that transfer with checks: `TransferChecked`, and those of the transfer fee extension. */
const CHECKED_TRANSFERS: ReadonlySet<number | undefined> = new Set([12, 26])
/** Source, mint, destination and authority; the accounts of a transfer hook or the signers of a multisig follow. */
const TRANSFER_ACCOUNTS = 4

/** Whether the message names its accounts without lookup tables, and calls only programs that call no unknown ones. */
export const isPlainMessage = ({ keys, instructions, lookups }: DecodedMessage): boolean =>
  lookups.length === 0 &&
  instructions.every((each) => {
    const program = keys[each.programIdIndex] ?? ''
    return KNOWN_PROGRAMS.has(program) && !isOpenCall(program, each)
  })

/** Whether a known program may call any other program by this instruction. */
function isOpenCall(program: string, { accounts, data }: CompiledInstruction): boolean {
  // It calls any program for an asset.
  if (program === METAPLEX_CORE.id) return METAPLEX_CORE.nameOf(data) === 'execute_v1'
  // A vault executes what the chain stores, which the message does not show.
  if (program === PROGRAMS.squads.id) return true
  return program === TOKEN_2022_PROGRAM && CHECKED_TRANSFERS.has(data[0]) && accounts.length > TRANSFER_ACCOUNTS
}
