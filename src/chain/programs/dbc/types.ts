/** Types of a launch curve and its pool: amounts are bigint, addresses base58. */
import type { ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'

/** A preset converted to the program's parameters. */
export interface LaunchCurve {
  /** Argument of createConfig, used only by the launch builder. */
  parameters: ConfigParameters
  /** SOL for one whole token at the start, as decimal text of 15 significant digits. */
  initialPrice: string
  /** Price of a whole token at which the pool migrates. */
  migrationPrice: string
  /** Lamports that the supply is worth at the start according to the preset. */
  initialMarketCapLamports: bigint
  /** Raw units that are minted. */
  totalSupply: bigint
  /** Lamports that fill the curve. */
  thresholdLamports: bigint
  /** Square root of the first price in lamports per raw unit, times 2^64 as in the program. */
  startSqrtPrice: bigint
  /** End and liquidity of each segment, in the program's units. */
  points: { sqrtPrice: bigint; liquidity: bigint }[]
  /** Raw units that are neither sold, migrated nor locked. Rounding leaves them for the leftover receiver. */
  leftover: bigint
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
  /** Decimals of the base mint. */
  decimals: number
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
  /**
   * SOL for one whole token at the current price as decimal text, or raw units of the quote if that is another token.
   */
  price: string
  partnerQuoteFee: bigint
  partnerBaseFee: bigint
  creatorQuoteFee: bigint
  creatorBaseFee: bigint
  isMigrated: boolean
  /** Migration state: 0 trading, 1 full and waiting for its locker, 2 ready to migrate, 3 migrated. */
  migrationProgress: number
  /** Unix seconds at which the curve became full, or null before. */
  finishedAt: number | null
  feeClaimer: string
  leftoverReceiver: string
  /** Target of the migration: 0 is DAMM v1, 1 is DAMM v2. */
  migrationOption: number
  /** Index of the DAMM v2 config that the pool migrates to, from 0 to 6. */
  migrationFeeOption: number
  /** The partner's surplus, which is 0 while the curve is not full and after the withdrawal. */
  surplus: { claimable: bigint; withdrawn: boolean }
  hasVesting: boolean
  /** Activation time in Unix seconds, or null when the pool counts in slots. */
  activatedAt: number | null
  /** Whether a swap must pass its transaction's instructions to the program. */
  swapShowsInstructions: boolean
  /** The accounts of the pool and of its config in a form for JSON. */
  raw: { pool: unknown; config: unknown }
}
