/** Meteora DBC: launch curves, from a preset to the pool that they migrate to. */
export { type DbcChange, type DbcRecipient, dbcChangesIn } from './changes.ts'
export { buildPartnerFeeClaim, buildSurplusClaim, FEE_CLAIM_UNITS, type PartnerFeeClaim, maxRecipients, type SurplusClaim } from './claims.ts'
export { curveOf } from './curve.ts'
export { buildDbcLaunch, DBC_LAUNCH_UNITS, type DbcLaunch } from './launch.ts'
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
export { migrationMarketCap, curveProgressOf, readDbcPool, readDbcPools } from './state.ts'
export { buildDbcSwap, quoteDbcSwap, SWAP_UNITS, type DbcSwap, type DbcSwapQuote } from './swaps.ts'
export type { LaunchCurve, DbcPool } from './types.ts'
