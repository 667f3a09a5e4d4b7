/** Types of a claim while it is planned. */
import type { Beneficiary, FeeClaimKind, FeeClaimType, Split } from '../../api/fee-claims.ts'
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import type { DbcPool } from '../../chain/programs/dbc/index.ts'
import type { BuiltTransaction } from '../building.ts'

export type FeeClaimInput = Pick<
  Input<Api['feeClaims']['create']>,
  'address' | 'kind' | 'beneficiary' | 'owner' | 'position' | 'splits'
> & { allow_programs?: boolean }

/** Whose share is claimed, and the wallet that it belongs to. */
export interface Party {
  beneficiary: Beneficiary
  claimer: string
}

/** The claim as its answer and its event describe it. Amounts are digits. */
export interface FeeClaimPlan extends Party {
  pool_address: string
  kind: FeeClaimKind
  /** Raw units of the quote; left out if a claim pays none. */
  estimated_quote?: string
  /** Raw units of the pool's token; left out if a claim pays none. */
  estimated_base?: string
  /** Lamports that a claim pays in addition to the quote, for example the pool creation fee. */
  estimated_lamports?: string
  quote_mint: string
  quote_decimals: number
  base_mint: string
  base_decimals: number
  /** Wallet that signs for the claimer, as the delegate of its positions. */
  delegate?: string
  /** Positions with fees that did not fit. */
  remaining_positions?: number
  /** Type of the event that reports the confirmed claim. */
  type: FeeClaimType
}

export interface PlannedFeeClaim {
  built: BuiltTransaction
  plan: FeeClaimPlan
  /** Owners of the token accounts that the claim opens permanently, one per account. */
  opens?: readonly string[]
}

export interface TradingFeeRequest {
  pool: DbcPool
  party: Party
  splits: readonly Split[] | undefined
  /** Whether splits may pay addresses of programs. */
  allowsPrograms: boolean
  payer: string
}
