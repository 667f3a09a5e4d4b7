/** Meteora DAMM v2: launching, reading, trading and claiming from its pools, over the program cp_amm. */
export { poolAddress, positionAddresses } from './addresses.ts'
export { type DammV2Change, dammV2ChangesIn } from './changes.ts'
export { buildPositionClaim, type PositionClaim, positionsPerClaim } from './claim.ts'
export { buildSingleSidedPool, FEE_BPS, LAUNCH_UNITS, type SingleSidedPool } from './launch.ts'
export { type DammV2Position, positionsOf } from './positions.ts'
export { quoteSwap, type SwapOrder, type SwapQuote, type SwapSide } from './quote.ts'
export { type DammV2Pool, readDammV2Pool, readDammV2Pools } from './state.ts'
export { buildSwap, type Swap } from './swap.ts'
