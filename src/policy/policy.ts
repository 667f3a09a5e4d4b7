/** The policy of a signing key: the amounts that may leave its wallet, and the amounts that have left. */
import type { Weekday } from '../platform/timing.ts'
import type { GuardMode } from '../solana/constants.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../solana/program-ids.ts'
import { PROGRAMS } from '../solana/programs.ts'
import type { HolderPower } from '../solana/token-authorities.ts'

export interface MintLimit {
  mint: string
  /** Limit for one transaction, in raw units. */
  per_transaction: bigint
  /** Limit for 24 hours, in raw units. */
  per_day: bigint
}

/** Hours in which acts need no approval for their time. With `from` after `to`, they end on the next day. */
export interface Hours {
  days: readonly Weekday[]
  /** Local time as `HH:MM`; `to` itself is outside, and may be `24:00`. */
  from: string
  to: string
  /** IANA name, such as `Europe/Berlin`. */
  timezone: string
}

export interface ApprovalRules {
  /** The most lamports that may leave with approvals; null if the limit without approvals is final. */
  lamports_per_transaction: bigint | null
  lamports_per_day: bigint | null
  /** The same by mint, in raw units. */
  tokens: readonly MintLimit[]
  /** Whether each of these waits instead of being refused. */
  destination: boolean
  authority: boolean
  delegate: boolean
  power: boolean
  close: boolean
  /** Operations that always wait, by their names in the audit log. */
  operations: readonly string[]
  /** Outside these hours everything waits; null for any time. */
  hours: Hours | null
}

export interface Approvals {
  /** Approvals that an act needs. */
  needed: number
  /** Addresses of those who may approve; null for every approver. */
  approvers: readonly string[] | null
  /** Seconds until a proposal expires. */
  expires_in: number
  rules: ApprovalRules
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
  /** Authorities of mints with which the wallet may act on what others hold. */
  powers: readonly HolderPower[]
  /** Whether what is signed must be guarded on chain. */
  guards: GuardMode
  /** What waits for approvals instead of being refused; null if nothing does. */
  approvals: Approvals | null
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
  ...[PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata, PROGRAMS.core].map(({ id }) => id),
  ...[PROGRAMS.lock, PROGRAMS.distributor, PROGRAMS.presale].map(({ id }) => id),
]

/** The default policy permits nothing to leave, and no act on what others hold, until an operator allows it. */
export const DEFAULT_POLICY: SigningPolicy = {
  paused: false,
  programs: DEFAULT_PROGRAMS,
  destinations: null,
  max_fee_lamports: 2_000_000n,
  lamports_per_transaction: 0n,
  lamports_per_day: 0n,
  tokens: [],
  powers: [],
  guards: 'when_it_fits',
  approvals: null,
}
