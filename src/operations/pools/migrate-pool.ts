/** Builds the next transaction of a full curve's migration, for any wallet that pays for it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildMigrationStep,
  MIGRATION_PROGRAMS,
  MIGRATION_UNITS,
  migratedPoolAddress,
  openMigrationStep,
} from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import { buildTransaction, newKey, trackingOf, unsignedAnswer } from '../building.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'
import { requireCurve } from './on-chain.ts'

type MigrateRoute = Api['pools']['migrate']

/** Throws bad_request for a curve that is not full, or has migrated. */
export async function migratePool(
  context: Context,
  { address, payer }: Input<MigrateRoute>,
): Promise<Result<MigrateRoute>> {
  const pool = await requireCurve(context.chain, address)
  const step = openMigrationStep(pool)
  // A build is tried first: both take the same keys.
  const positionKeys = step === 'migrate' ? ([newKey(context), newKey(context)] as const) : undefined
  let keys: readonly Uint8Array[] = []
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: MIGRATION_PROGRAMS[step],
    fallbackUnits: MIGRATION_UNITS[step],
    async build(envelope) {
      const migration = await buildMigrationStep({ ...envelope, pool, positionKeys })
      keys = migration.secretKeys
      return migration
    },
  })
  return {
    pool_address: address,
    step,
    damm_pool_address: await migratedPoolAddress(pool),
    tx: { ...unsignedAnswer(built), ...generatedKeysField(context.vault, [built.transaction], keys) },
    tracked_resource: trackingOf('pool', address, []),
  }
}
