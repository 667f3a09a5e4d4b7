/** Tells messages whose own bytes show all that they do from those that only the chain can show. */
import type { DecodedMessage } from './messages.ts'
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
import { PROGRAMS } from './programs.ts'

/** Programs of which the instructions are known, with all that they call. */
const KNOWN_PROGRAMS: ReadonlySet<string> = new Set([
  ...Object.values(PROGRAMS).map(({ id }) => id),
  ...[SYSTEM_PROGRAM, COMPUTE_BUDGET_PROGRAM, LOOKUP_TABLE_PROGRAM, MEMO_PROGRAM, MEMO_V1_PROGRAM],
  ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM],
])

/** Whether the message names its accounts without lookup tables, and calls known programs only. */
export const isPlainMessage = ({ keys, instructions, lookups }: DecodedMessage): boolean =>
  lookups.length === 0 && instructions.every(({ programIdIndex }) => KNOWN_PROGRAMS.has(keys[programIdIndex] ?? ''))
