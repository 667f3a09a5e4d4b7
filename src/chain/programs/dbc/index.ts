/** Meteora DBC: launch curves, from a preset to the pool that they migrate to. */
export { type DbcChange, type DbcRecipient, dbcChangesIn } from './changes.ts'
export { buildClaim, buildSurplusClaim, CLAIM_UNITS, type Claim, maxRecipients, type SurplusClaim } from './claims.ts'
export { curveOf } from './curve.ts'
export { buildLaunch, LAUNCH_UNITS, type Launch } from './launch.ts'
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
export { poolAddress } from './program.ts'
export { migrationMarketCap, progressOf, readDbcPool, readDbcPools } from './state.ts'
export { buildSwap, quoteSwap, SWAP_UNITS, type Swap, type SwapQuote } from './swaps.ts'
export type { Curve, DbcPool } from './types.ts'
