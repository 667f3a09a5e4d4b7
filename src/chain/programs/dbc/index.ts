/** Meteora DBC: launch curves from the preset to the pool that they migrate to. */
export { type DbcChange, type DbcRecipient, dbcChangesIn } from './changes.ts'
export {
  buildPartnerFeeClaim,
  buildSurplusClaim,
  FEE_CLAIM_UNITS,
  maxRecipients,
  type PartnerFeeClaim,
  type SurplusClaim,
} from './claims.ts'
export { buildConfig, type ConfigContent, configContentHash } from './config.ts'
export { curveOf } from './curve.ts'
export {
  buildDbcLaunch,
  buildWholeDbcLaunch,
  DBC_LAUNCH_UNITS,
  type DbcLaunch,
  wholeLaunchUnits,
} from './launch.ts'
export { findCurves, migratedCandidates } from './lookup.ts'
export {
  buildMigrationStep,
  MIGRATION_UNITS,
  type Migration,
  type MigrationStep,
  type MigrationTransaction,
  migratedPoolAddress,
  migrationStep,
} from './migration.ts'
export { dbcPoolAddress } from './program.ts'
export {
  curveProgressOf,
  dbcPoolsIn,
  feeClaimersOf,
  migrationMarketCap,
  readDbcAccounts,
  readDbcPool,
  readDbcPools,
} from './state.ts'
export { buildDbcSwap, type DbcSwap, type DbcSwapQuote, quoteDbcSwap, SWAP_UNITS } from './swaps.ts'
export type { DbcPool, LaunchCurve } from './types.ts'
