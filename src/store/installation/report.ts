/** Reports on a database: its schema, its size and its growth. It changes nothing. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../settings/config.ts'
import { type AppliedMigrations, type MigrationState, migrationState } from '../migrations/migrate.ts'
import { schemaFaults } from '../migrations/schema-check.ts'
import type { StoreOptions } from '../open.ts'
import { migrationNames, TABLES } from '../schema.ts'
import { findSetting } from '../settings.ts'
import type { TableName, TableSize, Whole } from '../transfer/whole.ts'
import { withWhole } from '../transfer/with-whole.ts'
import { FINGERPRINT } from './installation.ts'

/** The cause of a row in each table that grows with use. */
const GROWS_WITH: Partial<Record<TableName, string>> = {
  airdrop_claims: 'claims of airdrops',
  audit_entries: 'signings, API keys',
  events: 'changes of resources',
  fee_claims: 'fee claims',
  fee_schedule_claims: 'claims by fee schedules',
  fee_schedule_runs: 'periods of fee schedules',
  gold_locks: 'gold locks',
  holder_pieces: 'holder snapshots',
  holder_snapshots: 'holder snapshots',
  idempotency_keys: 'writes, for idempotency-hours',
  merkle_blobs: 'airdrop lists',
  merkle_trees: 'airdrop lists',
  nfts: 'NFTs',
  pay_requests: 'pay requests, for 30 days',
  pools: 'pools',
  raise_allowlist_pieces: 'allowlists of raises',
  raise_allowlists: 'allowlists of raises',
  raises: 'raises',
  rate_hits: 'requests of limited keys',
  signer_spends: 'signings',
  signings: 'signings',
  stakes: 'stakes',
  tickers: 'pools',
  tokens: 'tokens',
  transactions: 'transactions',
  webhook_deliveries: 'webhook attempts',
  webhook_queue: 'undelivered events',
}

interface ReportedTable extends TableSize {
  table: string
  grows_with: string | null
}

interface DatabaseReport extends AppliedMigrations {
  kind: Whole['kind']
  fingerprint: string | null
  /** Differences from the schema that the applied migrations leave. */
  faults: readonly string[]
  bytes: number
  /** Bytes of the write-ahead log; null if it belongs to the server. */
  wal_bytes: number | null
  /** Largest first. */
  tables: readonly ReportedTable[]
}

/** Returns null without a SQLite file. Throws internal_error for a database that cannot be read. */
export async function reportDatabase(options: StoreOptions): Promise<DatabaseReport | null> {
  if (options.databaseUrl === undefined && !existsSync(join(options.dataDir, DATABASE_FILE))) return null
  return withWhole(options, 'read', async (whole) => {
    const sizes = await whole.sizes()
    const state = await stateIn(whole)
    const faults = [...(await schemaFaults(whole.tx, state)), ...(await whole.additions())]
    const { database, wal } = await whole.bytes()
    const tables = [...sizes]
      .filter(([table]) => (TABLES as string[]).includes(table))
      .map(([table, size]) => ({
        table,
        ...size,
        grows_with: GROWS_WITH[table as TableName] ?? null,
      }))
    return {
      applied: state.applied,
      pending: state.pending,
      kind: whole.kind,
      fingerprint: sizes.has('settings') ? await findSetting(whole.tx, FINGERPRINT) : null,
      faults,
      bytes: database,
      wal_bytes: wal,
      tables: tables.sort((one, other) => other.bytes - one.bytes || one.table.localeCompare(other.table)),
    }
  })
}

/** Reports only the migrations, which is fast even on a large database. */
export async function reportMigrations(
  options: StoreOptions,
): Promise<AppliedMigrations & { faults: readonly string[] }> {
  if (options.databaseUrl === undefined && !existsSync(join(options.dataDir, DATABASE_FILE)))
    return { applied: [], pending: migrationNames(), faults: [] }
  return withWhole(options, 'read', async (whole) => {
    const state = await stateIn(whole)
    const { applied, pending } = state
    return { applied, pending, faults: [...(await schemaFaults(whole.tx, state)), ...(await whole.additions())] }
  })
}

/** A query of a table that does not exist would end the transaction on PostgreSQL, so its presence is checked first. */
async function stateIn({ tx }: Whole): Promise<MigrationState> {
  const tables = await tx.introspection.getTables({ withInternalKyselyTables: true })
  const isNew = !['kysely_migration', 'settings'].every((table) => tables.some(({ name }) => name === table))
  return isNew ? { applied: [], pending: migrationNames(), filling: null } : migrationState(tx)
}
