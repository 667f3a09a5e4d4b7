/** Types of a launch in its own pool. */

/** The platform's part of the one position that a launch makes. */
export interface PlatformShare {
  wallet: string
  /** Address of a fresh key that signs beside that of the position. */
  positionNft: string
  /** Whole percent, from 1 to 99. */
  percentage: number
}

/** A launch, independent of the transactions that it takes. */
export interface SingleSidedLaunch {
  /** Address that pays and signs, and owns the pool's position. */
  creator: string
  /** Address of a fresh key that signs what creates the token. */
  mint: string
  /** Address of a fresh key that signs what creates the pool. */
  positionNft: string
  name: string
  symbol: string
  uri: string
  /** Number of decimals, from 0 to 9. */
  decimals: number
  /** Supply in raw units. */
  totalSupply: bigint
  /** Lamports that the whole supply is worth at the first price. */
  initialMarketCapLamports: bigint
  /** Fee in basis points, from 1 to 9900, taken in SOL from every trade. */
  feeBps: number
  /** Whether the position is locked permanently, so that its fees can be claimed but its liquidity never withdrawn. */
  lockLiquidity: boolean
  /** The platform's part of a locked position, or null when the creator keeps all of it. */
  platform: PlatformShare | null
  /** Lamports of the creator's first buy, or 0 for none. */
  buyLamports: bigint
  /** Lamports that make the mint's 82 bytes rent-exempt. */
  rent: bigint
}
