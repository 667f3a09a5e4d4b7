/** A launch curve and its pool in nouns: amounts are bigint, addresses base58. */
import type { ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'

/** A preset made into what the program takes. */
export interface LaunchCurve {
  /** Argument of createConfig; for `buildLaunch` alone. */
  parameters: ConfigParameters
  /** SOL for one whole token at the start, decimal text of 15 significant digits. */
  initialPrice: string
  /** Price of a whole token where the pool migrates. */
  migrationPrice: string
  /** Lamports that the supply is worth at the start, as the preset says. */
  initialMarketCapLamports: bigint
  /** Raw units that are minted. */
  totalSupply: bigint
  /** Lamports that fill the curve. */
  thresholdLamports: bigint
  /** Square root of the first price in lamports for a raw unit, as the program has it: times 2^64. */
  startSqrtPrice: bigint
  /** Each segment's end and its liquidity, in the program's units. */
  points: { sqrtPrice: bigint; liquidity: bigint }[]
  /** Raw units that are neither sold, migrated nor locked: what rounding leaves, for the leftover receiver. */
  leftover: bigint
}

/** A pool and its config as they were read. */
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
  /** Raw units of the quote that count towards the threshold; fees are apart. */
  quoteReserve: bigint
  /** Quote that fills the curve. */
  threshold: bigint
  /** Square root of the present price, times 2^64. */
  sqrtPrice: bigint
  /** Square root of the price where the pool migrates, as `sqrtPrice`. */
  migrationSqrtPrice: bigint
  /** Raw units of the token there are. */
  totalSupply: bigint
  /** SOL for one whole token at the present price, decimal text; raw units of the quote where that is another token. */
  price: string
  partnerQuoteFee: bigint
  partnerBaseFee: bigint
  creatorQuoteFee: bigint
  creatorBaseFee: bigint
  isMigrated: boolean
  /** 0 trading, 1 full and waiting for its locker, 2 ready to migrate, 3 migrated. */
  migrationProgress: number
  /** When the curve was full, Unix seconds; null before. */
  finishedAt: number | null
  feeClaimer: string
  leftoverReceiver: string
  /** 0 is DAMM v1, 1 DAMM v2. */
  migrationOption: number
  /** Which DAMM v2 config the pool migrates to, 0 to 6. */
  migrationFeeOption: number
  /** The partner's: 0 while the curve is not full, and once withdrawn. */
  surplus: { claimable: bigint; withdrawn: boolean }
  hasVesting: boolean
  /** Unix seconds; null where the pool counts in slots. */
  activatedAt: number | null
  /** A swap has to show the program its transaction's instructions. */
  swapShowsInstructions: boolean
  /** The accounts of the pool and of its config, as JSON can hold them. */
  raw: { pool: unknown; config: unknown }
}
