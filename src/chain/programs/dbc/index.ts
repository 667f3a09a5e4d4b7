/** Meteora DBC: launch curves from the preset to the pool that they migrate to. */

export { type DbcChange, type DbcClaimChange, type DbcRecipient, dbcChangesIn } from './changes.ts'
export { maxRecipients } from './claim-shares.ts'
export { buildTradingFeeClaim, closesToken, OPENED_SHARE_UNITS, TRADING_FEE_CLAIM_UNITS } from './claims.ts'
export { buildConfig, type ConfigContent, configContentHash, tryConfigAtNode } from './config.ts'
export { buildCurve } from './curve.ts'
export {
  buildDbcLaunch,
  buildWholeDbcLaunch,
  configUnits,
  DBC_LAUNCH_UNITS,
  type DbcLaunch,
  wholeLaunchUnits,
} from './launch.ts'
export {
  type LaunchCost,
  type LaunchRehearsal,
  launchProgramHash,
  rehearseDbcLaunch,
} from './launch-rehearsal.ts'
export {
  buildMigrationStep,
  MIGRATION_PROGRAMS,
  MIGRATION_UNITS,
  type Migration,
  type MigrationStep,
  type MigrationTransaction,
  migratedCandidates,
  migratedPoolAddress,
  migrationStep,
  openMigrationStep,
  vestingEscrowAddress,
} from './migration.ts'
export {
  type CurvePoint,
  type CurvePreview,
  type Depth,
  type MigrationPreview,
  type OwnedLiquidity,
  type PartyAmounts,
  previewCurve,
} from './preview/index.ts'
export { dbcPriceText } from './prices.ts'
export { baseAccountAddress, dbcPoolAddress, quoteAccountAddress } from './program.ts'
export {
  type QuoteAccounts,
  type QuoteTerms,
  readQuoteAccounts,
  requireQuoteBalance,
  requireQuoteMint,
  tokenBadgeAddress,
} from './quote-mint.ts'
export {
  type CurveReceivers,
  creatorOf,
  creatorPart,
  curveProgressOf,
  dbcPoolsIn,
  findCurves,
  leftoverPart,
  migrationMarketCap,
  readDbcAccounts,
  readDbcPool,
  readDbcPools,
  readLeftover,
  readReceivers,
} from './state.ts'
export { buildDbcSwap, type DbcSwap, type DbcSwapQuote, quoteDbcSwap, SWAP_UNITS } from './swaps.ts'
export type { CurveEarned, DbcPool, LaunchCurve, OneTimeClaim, Share, TradingFeeClaim } from './types.ts'
export {
  buildCreationFeeWithdrawal,
  buildCreatorTransfer,
  buildLeftoverWithdrawal,
  buildQuoteWithdrawal,
  CREATOR_TRANSFER_UNITS,
  WITHDRAWAL_UNITS,
} from './withdrawals.ts'
