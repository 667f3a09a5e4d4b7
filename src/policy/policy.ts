/** The policy of a signing key: what may leave its wallet, and what left already. */
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
  /** Raw units. */
  per_transaction: bigint
  /** Raw units within 24 hours. */
  per_day: bigint
}

export interface SigningPolicy {
  paused: boolean
  /** Programs that a transaction may invoke, directly or from within another. */
  programs: readonly string[]
  /** Null allows any. */
  destinations: readonly string[] | null
  max_fee_lamports: bigint
  lamports_per_transaction: bigint
  lamports_per_day: bigint
  /** A mint that is not listed may not leave. */
  tokens: readonly MintLimit[]
}

/** What left within the last 24 hours. */
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

/** Nothing may leave until an operator says how much. */
export const DEFAULT_POLICY: SigningPolicy = {
  paused: false,
  programs: DEFAULT_PROGRAMS,
  destinations: null,
  max_fee_lamports: 2_000_000n,
  lamports_per_transaction: 0n,
  lamports_per_day: 0n,
  tokens: [],
}
