/** Migrates a database to the schema of this program. */
import { type Kysely, Migrator, sql } from 'kysely'
import { internal } from '../../platform/errors.ts'
import type { Tables } from '../schema.ts'
import { ground } from './0001-ground.ts'
import { leases } from './0002-leases.ts'
import { following } from './0003-following.ts'
import { signing } from './0004-signing.ts'
import { poolTables } from './0005-pools.ts'
import { delivery } from './0006-delivery.ts'
import { airdropTables } from './0007-airdrops.ts'
import { assetTables } from './0008-assets.ts'
import { goldLockTables } from './0009-gold-locks.ts'
import { stakeTables } from './0010-stakes.ts'
import { webhookSecrets } from './0011-webhook-secrets.ts'
import { webhookOwners } from './0012-webhook-owners.ts'
import { poolSubmissions } from './0013-pool-submissions.ts'
import { boundedSteps } from './0014-bounded-steps.ts'
import { leaseProgress } from './0015-lease-progress.ts'
import { auditSeals } from './0018-audit-seals.ts'
import { listIndexes } from './0020-list-indexes.ts'
import { workerIndexes } from './0021-worker-indexes.ts'
import { signingIds } from './0022-signing-ids.ts'
import { rateWindows } from './0023-rate-windows.ts'
import { retention } from './0026-retention.ts'
import { assetStorage } from './0027-assets.ts'
import { deliveryIndexes } from './0028-delivery-indexes.ts'
import { refreshedMessages } from './0029-refreshed-messages.ts'
import { chainReconciliation } from './0030-chain-reconciliation.ts'
import { sharedConfigs } from './0031-shared-configs.ts'
import { ledgerTables } from './0032-ledger.ts'
import { feeClaimKinds } from './0033-fee-claim-kinds.ts'
import { lockedAmounts } from './0034-locked-amounts.ts'
import { holderSnapshotTables } from './0035-holder-snapshots.ts'
import { feeScheduleTables } from './0036-fee-schedules.ts'
import { sponsorshipTables } from './0037-sponsorships.ts'
import { airdropClaimTables } from './0038-airdrop-claims.ts'
import { treeOwners } from './0040-tree-owners.ts'
import { readAnew } from './0043-read-anew.ts'
import { closedEventTypes } from './0044-closed-event-types.ts'
import type { SchemaDialect, SteppedMigration } from './dialect.ts'

/** Migrations in order. A released name is never changed, removed or moved. */
const MIGRATIONS: Record<string, (dialect: SchemaDialect) => SteppedMigration> = {
  '0001-ground': ground,
  '0002-leases': leases,
  '0003-following': following,
  '0004-signing': signing,
  '0005-pools': poolTables,
  '0006-delivery': delivery,
  '0007-airdrops': airdropTables,
  '0008-assets': assetTables,
  '0009-gold-locks': goldLockTables,
  '0010-stakes': stakeTables,
  '0011-webhook-secrets': webhookSecrets,
  '0012-webhook-owners': webhookOwners,
  '0013-pool-submissions': poolSubmissions,
  '0014-bounded-steps': boundedSteps,
  '0015-lease-progress': leaseProgress,
  '0018-audit-seals': auditSeals,
  '0020-list-indexes': listIndexes,
  '0021-worker-indexes': workerIndexes,
  '0022-signing-ids': signingIds,
  '0023-rate-windows': rateWindows,
  '0026-retention': retention,
  '0027-assets': assetStorage,
  '0028-delivery-indexes': deliveryIndexes,
  '0029-refreshed-messages': refreshedMessages,
  '0030-chain-reconciliation': chainReconciliation,
  '0031-shared-configs': sharedConfigs,
  '0032-ledger': ledgerTables,
  '0033-fee-claim-kinds': feeClaimKinds,
  '0034-locked-amounts': lockedAmounts,
  '0035-holder-snapshots': holderSnapshotTables,
  '0036-fee-schedules': feeScheduleTables,
  '0037-sponsorships': sponsorshipTables,
  '0038-airdrop-claims': airdropClaimTables,
  '0040-tree-owners': treeOwners,
  '0043-read-anew': readAnew,
  '0044-closed-event-types': closedEventTypes,
}

/** Names of all migrations of this program, in order. */
export const migrationNames: readonly string[] = Object.keys(MIGRATIONS)

export interface AppliedMigrations {
  /** Names in the order in which they were applied. */
  applied: readonly string[]
  /** The one that is still filling its tables is the first of them. */
  pending: readonly string[]
}

export interface MigrationState extends AppliedMigrations {
  /** The migration whose tables are there, and whose rows are not all copied yet; null where there is none. */
  filling: string | null
}

/** Setting that holds the migration that is filling its tables, and the place that it came to, as JSON. */
const FILLING = 'unfinished_migration'

interface Filling {
  migration: string
  after: string
}

/**
 * Returns which migrations the database has; it is a single query, to keep startup fast. Throws when it has one that
 * this program does not know.
 */
export async function migrationState(db: Kysely<Tables>): Promise<MigrationState> {
  const { executed, filling } = await executedMigrations(db)
  const unknown = executed.find((name) => !Object.hasOwn(MIGRATIONS, name))
  if (unknown !== undefined) {
    throw internal(
      `the database is newer than this program (it has the migration ${unknown}): upgrade svc, or restore the backup made before the upgrade`,
    )
  }
  const has = new Set(executed.filter((name) => name !== filling))
  return {
    applied: migrationNames.filter((name) => has.has(name)),
    pending: migrationNames.filter((name) => !has.has(name)),
    filling,
  }
}

/** Runs what is pending, up to and including `last` if it is set, in as many transactions as it takes. */
export async function migrateDatabase(db: Kysely<Tables>, dialect: SchemaDialect, last?: string): Promise<void> {
  for (;;) {
    const state = await migrationState(db)
    if (!state.pending.some((name) => last === undefined || name <= last)) return
    if (state.filling === null) await applyMigrations(db, dialect, state, last)
    else {
      const transaction = db.transaction().setAccessMode('read write')
      await transaction.execute((tx) => fillNext(tx, dialect))
    }
  }
}

/**
 * Applies pending migrations up to the next one that copies rows, with the first step of that; on a new database there
 * is nothing to copy, so all of them. The caller must exclude other processes where kysely's own lock does not.
 */
export async function applyMigrations(
  db: Kysely<Tables>,
  dialect: SchemaDialect,
  { applied, pending }: MigrationState,
  last?: string,
): Promise<void> {
  const made = Object.entries(MIGRATIONS).map(([name, make]) => [name, make(dialect)] as const)
  const migrations = Object.fromEntries(made.map(([name, migration]) => [name, withFirstStep(name, migration)]))
  const stops = applied.length === 0 ? [] : pending.filter((name) => migrations[name]?.fill !== undefined)
  const until = [...stops, last, migrationNames.at(-1)].filter((name) => name !== undefined).sort()[0]
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateTo(until ?? '')
  if (error === undefined) return
  const failed = results?.find((result) => result.status === 'Error')?.migrationName
  if (failed === undefined) throw error
  throw notMigrated(failed, error)
}

/** The first step belongs to the transaction that makes the tables, and is the last one where there is little to copy. */
function withFirstStep(name: string, migration: SteppedMigration): SteppedMigration {
  const { fill } = migration
  if (fill === undefined) return migration
  return {
    ...migration,
    async up(db: Kysely<never>) {
      await migration.up(db)
      const after = await fill(db, '')
      if (after === null) return
      const value = JSON.stringify({ migration: name, after } satisfies Filling)
      await (db as Kysely<Tables>).insertInto('settings').values({ name: FILLING, value }).execute()
    },
  }
}

/** Does the next step of the migration that is filling its tables, in the caller's transaction. */
export async function fillNext(db: Kysely<Tables>, dialect: SchemaDialect): Promise<void> {
  // An update that changes nothing takes the row's lock: another process goes on after this step.
  const marker = db.updateTable('settings').set({ name: FILLING }).where('name', '=', FILLING)
  const row = await marker.returning('value').executeTakeFirst()
  if (row === undefined) return
  const { migration, after } = JSON.parse(row.value) as Filling
  const next = await MIGRATIONS[migration]?.(dialect)
    .fill?.(db as never, after)
    .catch((error: unknown) => Promise.reject(notMigrated(migration, error)))
  if (typeof next === 'string') {
    const value = JSON.stringify({ migration, after: next } satisfies Filling)
    await db.updateTable('settings').set({ value }).where('name', '=', FILLING).execute()
  } else await db.deleteFrom('settings').where('name', '=', FILLING).execute()
}

const notMigrated = (name: string, error: unknown) =>
  internal(`the database could not be migrated (${name}): ${error instanceof Error ? error.message : error}`, {
    cause: error,
  })

async function executedMigrations(db: Kysely<Tables>): Promise<{ executed: string[]; filling: string | null }> {
  try {
    const { rows } = await sql<{ name: string; value: string }>`
      select name, '' as value from kysely_migration
      union all select name, value from settings where name = ${FILLING}`.execute(db)
    const filling = rows.find(({ name }) => name === FILLING)
    return {
      executed: rows.map(({ name }) => name).filter((name) => name !== FILLING),
      filling: filling === undefined ? null : (JSON.parse(filling.value) as Filling).migration,
    }
  } catch {
    // The table does not exist yet; if the database itself fails, the migrator reports the error next.
    return { executed: [], filling: null }
  }
}
