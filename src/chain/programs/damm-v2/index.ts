/** Meteora DAMM v2: launching, reading, trading and claiming from its pools, over the program cp_amm. */
export { dammV2PoolAddress, positionAddresses } from './addresses.ts'
export { type DammV2Change, dammV2ChangesIn } from './changes.ts'
export { buildPositionClaim, claimAccounts, type PositionClaim, positionsPerClaim } from './claim.ts'
export {
  buildPositionDelegation,
  claimDelegateOf,
  isClaimDelegateOnly,
  POSITION_DELEGATION_UNITS,
  permissionsOf,
} from './delegates.ts'
export { type DammV2Earned, type EarnedAmounts, type EarnedSides, readDammV2Earned } from './earned.ts'
export {
  buildSingleSidedPool,
  buildWholeSingleSidedPool,
  DAMM_V2_LAUNCH_UNITS,
  type SingleSidedPool,
  wholePoolUnits,
} from './launch.ts'
export {
  type LiquidityCost,
  type LiquidityParts,
  liquidityAmounts,
  liquidityFor,
  liquidityParts,
  type PoolMoment,
  readPoolMoment,
  receivedFor,
  type TokenAmounts,
  type WantedAmounts,
} from './liquidity.ts'
export { type LockedLiquidity, lockedForGood, lockedLiquidity, type PoolsOfMint, poolsOfMint } from './of-mint.ts'
export { FEE_BPS, freshPool, type PoolPair } from './opening.ts'
export {
  buildLiquidityAddition,
  buildLiquidityRemoval,
  buildPermanentLock,
  buildPositionClosing,
  buildPositionOpening,
  buildPositionTransfer,
  buildPositionVesting,
  MOST_TRANSFERRED_POSITIONS,
  POSITION_ACT_UNITS,
  POSITION_TRANSFER_UNITS,
} from './position-acts.ts'
export {
  type DammV2Position,
  type PositionSchedule,
  poolOfPosition,
  positionsIn,
  readPositions,
} from './positions.ts'
export { type DammV2SwapQuote, quoteDammV2Swap, type SwapOrder, type SwapSide } from './quote.ts'
export { addToRaisedPool, openRaisedPool, RAISED_POOL_UNITS, readPairPool } from './raised.ts'
export { type DammV2Pool, dammV2PoolsIn, dammV2PriceText, readDammV2Pool, readDammV2Pools } from './state.ts'
export { buildDammV2Swap, type DammV2Swap, type PoolAccounts } from './swap.ts'
export type { PlatformShare } from './types.ts'
