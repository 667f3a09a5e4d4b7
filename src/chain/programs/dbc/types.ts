/** Types of a launch curve, its pool and its claims: amounts are bigint, addresses base58. */
import type { ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import type { Beneficiary } from '../../../api/fee-claims.ts'
import type { Envelope } from '../../sending/unsigned.ts'

/** A preset converted to the program's parameters. */
export interface LaunchCurve {
  /** Argument of createConfig, used only by the launch builder. */
  parameters: ConfigParameters
  /** Mint that the curve is traded against, usually wrapped SOL. All amounts of the quote are in its raw units. */
  quoteMint: string
  /** Decimals of the quote according to the preset. A launch compares them with the mint. */
  quoteDecimals: number
  /** Whole tokens of the quote for one whole token at the start, as decimal text of 15 significant digits. */
  initialPrice: string
  /** Price of a whole token at which the pool migrates. */
  migrationPrice: string
  /** Lamports, or raw units of the quote, that the supply is worth at the start according to the preset. */
  initialMarketCapLamports: bigint
  /** Raw units that are minted. */
  totalSupply: bigint
  /** Lamports, or raw units of the quote, that fill the curve. */
  thresholdLamports: bigint
  /** Square root of the first price in lamports per raw unit, times 2^64 as in the program. */
  startSqrtPrice: bigint
  /** End and liquidity of each segment, in the program's units. */
  points: { sqrtPrice: bigint; liquidity: bigint }[]
  /** Raw units that are neither sold, migrated nor locked: the withheld ones, and the remainder of rounding. */
  leftover: bigint
}

/** What a party can claim once. `claimable` is 0 while the program does not pay it yet, and after the withdrawal. */
export interface OneTimeClaim {
  claimable: bigint
  withdrawn: boolean
}

/** A pool and its config as read from the chain. */
export interface DbcPool {
  address: string
  config: string
  creator: string
  baseMint: string
  quoteMint: string
  baseVault: string
  quoteVault: string
  /** Token program of the base mint. */
  baseProgram: 'spl' | 'token2022'
  /** Token program of the quote's mint. */
  quoteProgram: 'spl' | 'token2022'
  /** Decimals of the base mint. */
  decimals: number
  /** Decimals of the quote's mint: 9 for SOL, and 0 if the mint is gone. */
  quoteDecimals: number
  baseReserve: bigint
  /** Raw units of the quote that count towards the threshold, without fees. */
  quoteReserve: bigint
  /** Raw units of the quote that fill the curve. */
  threshold: bigint
  /** Square root of the current price, times 2^64. */
  sqrtPrice: bigint
  /** Square root of the price at which the pool migrates, times 2^64. */
  migrationSqrtPrice: bigint
  /** Total supply of the token in raw units. */
  totalSupply: bigint
  /** Whole tokens of the quote, usually SOL, for one whole token at the current price, as decimal text. */
  price: string
  partnerQuoteFee: bigint
  partnerBaseFee: bigint
  creatorQuoteFee: bigint
  creatorBaseFee: bigint
  /** Meteora's part of the trading fees. */
  protocolQuoteFee: bigint
  protocolBaseFee: bigint
  /** Meteora's part of the migrated tokens, which stays in the base vault. */
  protocolMigrationBaseFee: bigint
  isMigrated: boolean
  /** Migration state: 0 trading, 1 full and waiting for its locker, 2 ready to migrate, 3 migrated. */
  migrationProgress: number
  /** Unix seconds at which the curve became full, or null before. */
  finishedAt: number | null
  feeClaimer: string
  leftoverReceiver: string
  /** Target of the migration: 0 is DAMM v1, 1 is DAMM v2. */
  migrationOption: number
  /** Percent of the migrated liquidity that is locked for good. */
  migratedLockedPercentage: number
  /** Index of the DAMM v2 config that the pool migrates to, from 0 to 6. */
  migrationFeeOption: number
  /**
   * The partner's part of the surplus above a full curve's threshold, in raw units of the quote; then the creator's.
   */
  surplus: OneTimeClaim
  creatorSurplus: OneTimeClaim
  /**
   * The partner's part of what the migration of a full curve leaves behind, in raw units of the quote; then the
   * creator's.
   */
  migrationFee: OneTimeClaim
  creatorMigrationFee: OneTimeClaim
  /** The partner's part of the lamports that the pool's creation paid. */
  creationFee: OneTimeClaim
  /**
   * Whether tokens may be left over after the migration, which only a fixed supply leaves, and whether they are paid
   * out.
   */
  leftover: { isPossible: boolean; withdrawn: boolean }
  /** What the curve has earned for everybody so far. */
  earned: CurveEarned
  hasVesting: boolean
  /** Program that each transfer of the token calls until the curve is full, or null. */
  transferHook: string | null
  /** Activation time in Unix seconds, or null when the pool counts in slots. */
  activatedAt: number | null
  /** Whether a swap must pass its transaction's instructions to the program. */
  swapShowsInstructions: boolean
  /** The accounts of the pool and of its config in a form for JSON, and the decimals of the quote. */
  raw: { pool: unknown; config: unknown; quote_decimals: number; transfer_hook?: string }
}

/** The accounts of a pool that an instruction names if it moves both tokens. */
export type DbcPoolAccounts = Pick<
  DbcPool,
  'address' | 'config' | 'baseMint' | 'quoteMint' | 'baseVault' | 'quoteVault' | 'baseProgram' | 'quoteProgram'
>

/**
 * Each party's one-time amounts of a curve, claimed or not. Surplus and migration fee are 0 before it is full.
 */
export interface OneTimeAmounts {
  surplus: { partner: bigint; creator: bigint; protocol: bigint }
  migrationFee: { partner: bigint; creator: bigint }
  /** Lamports. */
  creationFee: { partner: bigint; protocol: bigint }
}

/** Raw units of the two tokens of a curve. */
interface QuoteAndBase {
  quote: bigint
  base: bigint
}

export interface CurveEarned extends OneTimeAmounts {
  /** Trading fees of partner and creator together, claimed ones included. Each trade is rounded separately. */
  tradingFees: QuoteAndBase
  /** Meteora's trading fees, claimed ones included. */
  protocolFees: QuoteAndBase
  /** The creator's percentage of the trading fees. */
  creatorPercentage: number
  /** Meteora's part of the migrating amounts. */
  protocolMigration: QuoteAndBase
  protocolTookSurplus: boolean
}

/** What the builders of claims need to know of a pool. */
export type ClaimedPool = DbcPoolAccounts & Pick<DbcPool, 'quoteDecimals' | 'partnerBaseFee' | 'creatorBaseFee'>

export interface TradingFeeClaim extends Envelope {
  pool: ClaimedPool
  beneficiary: Beneficiary
  /** The fee claimer of the pool's config, or the pool's creator, which signs and receives the claimed amount. */
  claimer: string
  /** Exact amount in raw units of the quote to claim. It may be 0 if the pool has fees in its own token. */
  amount: bigint
  /** Raw units in the claimer's account of a quote other than SOL before the claim. */
  held?: bigint
  /**
   * Whether the claimer has no account of the pool's token. The opened account is closed again if `closesToken` says
   * so.
   */
  isTokenMissing?: boolean
  /** Payments by the claimer, in this order. Their sum is at most `amount`. */
  splits: readonly Share[]
}

export interface Share {
  recipient: string
  /** Raw units of the quote. */
  amount: bigint
  /**
   * What is at the address of the recipient's account of a quote other than SOL: the account, nothing, or only
   * lamports. The payer opens a missing account.
   */
  account?: 'open' | 'missing' | 'funded'
}
