/** Tells transactions that were submitted here, which the watcher follows by their bytes, from those that must be read. */
import { decodeWireTransaction } from '../../solana/messages.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { FollowedTransaction } from '../../store/transactions.ts'

/** Programs that call none of those whose instructions projections read, except by instructions of their own. */
const PLAIN_PROGRAMS: ReadonlySet<string> = new Set([
  ...Object.values(PROGRAMS).map(({ id }) => id),
  ...[SYSTEM_PROGRAM, COMPUTE_BUDGET_PROGRAM, LOOKUP_TABLE_PROGRAM, MEMO_PROGRAM, MEMO_V1_PROGRAM],
  ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM],
])

/**
 * `followed`: the watcher has written, or will never write, all that it did; `pending`: the watcher comes first;
 * `hidden`: it calls other programs or names accounts by lookup tables, so that only the chain shows what it did.
 */
export type SubmittedKind = 'followed' | 'pending' | 'hidden'

export function submittedKind({
  lifecycle,
  raw,
}: Pick<FollowedTransaction, 'lifecycle'> & { raw: Uint8Array }): SubmittedKind {
  if (lifecycle === 'submitted' || lifecycle === 'processing') return 'pending'
  if (lifecycle === 'failed' || raw.length === 0) return 'followed'
  return isPlain(raw) ? 'followed' : 'hidden'
}

function isPlain(raw: Uint8Array): boolean {
  const { keys, instructions, lookups } = decodeWireTransaction(raw).message
  return (
    lookups.length === 0 && instructions.every(({ programIdIndex }) => PLAIN_PROGRAMS.has(keys[programIdIndex] ?? ''))
  )
}
