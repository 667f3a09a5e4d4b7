/** The policy of a signing key: the amounts that may leave its wallet, and the amounts that have left. */
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../solana/program-ids.ts'
import { PROGRAMS } from '../solana/programs.ts'

export interface MintLimit {
  mint: string
  /** Limit for one transaction, in raw units. */
  per_transaction: bigint
  /** Limit for 24 hours, in raw units. */
  per_day: bigint
}

export interface SigningPolicy {
  paused: boolean
  /** Programs that a transaction may invoke, directly or by inner instructions. */
  programs: readonly string[]
  /** Addresses that may receive, or null for any. */
  destinations: readonly string[] | null
  max_fee_lamports: bigint
  lamports_per_transaction: bigint
  lamports_per_day: bigint
  /** Limits by mint. Tokens of a mint that is not listed may not leave. */
  tokens: readonly MintLimit[]
}

/** Amounts that left within the last 24 hours. */
export interface Spent {
  lamports: bigint
  /** Raw units by mint. */
  tokens: ReadonlyMap<string, bigint>
}

export const DEFAULT_PROGRAMS: readonly string[] = [
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  ...[PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata, PROGRAMS.core, PROGRAMS.lock, PROGRAMS.distributor].map(
    ({ id }) => id,
  ),
]

/** The default policy permits nothing to leave until an operator sets limits. */
export const DEFAULT_POLICY: SigningPolicy = {
  paused: false,
  programs: DEFAULT_PROGRAMS,
  destinations: null,
  max_fee_lamports: 2_000_000n,
  lamports_per_transaction: 0n,
  lamports_per_day: 0n,
  tokens: [],
}
