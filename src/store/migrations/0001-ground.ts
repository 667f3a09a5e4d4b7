/** Initial schema with the first version of the tables of `schema.ts`. */
import { type CreateTableBuilder, type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

type Db = Kysely<unknown>

export function ground({ blob, sequence }: SchemaDialect): Migration {
  const numbered = (db: Db, table: string) =>
    db.schema.createTable(table).addColumn('seq', sequence.type, sequence.build)

  /** Creates the table of a listed record with its number, its unique key and the fields of the originating request. */
  const record = (db: Db, table: string, key: string) =>
    numbered(db, table)
      .addColumn(key, 'text', (column) => column.notNull().unique())
      .addColumn('external_uid', 'text')
      .addColumn('metadata_json', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())

  return {
    async up(db: Db) {
      await access(db)
      await events(db)
      await resources(db)
      await webhooks(db)
      for (const [table, ...columns] of GROUND_INDEXES) {
        const name = `${table}_by_${columns.filter((column) => column !== 'seq').join('_')}`
        await db.schema.createIndex(name).on(table).columns(columns).execute()
      }
    },
  }

  async function access(db: Db) {
    await textColumns(numbered(db, 'api_keys'), 'name', 'preview', 'scopes_json', 'status')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('per_minute', 'integer')
      .addColumn('per_day', 'integer')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .execute()
    await db.schema
      .createTable('rate_hits')
      .addColumn('api_key_id', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('count', 'integer', (column) => column.notNull())
      .execute()
    await textColumns(db.schema.createTable('idempotency_keys'), 'api_key_id', 'key', 'request_hash', 'state', 'owner')
      .addColumn('lease_until', 'bigint', (column) => column.notNull())
      .addColumn('signature', 'text')
      .addColumn('status', 'integer')
      .addColumn('response', blob)
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('idempotency_keys_pk', ['api_key_id', 'key'])
      .execute()
    await textColumns(db.schema.createTable('settings'), 'value')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .execute()
  }

  async function events(db: Db) {
    await textColumns(db.schema.createTable('events'), 'type', 'resource_type', 'resource_id', 'object_json')
      .addColumn('sequence', sequence.type, (column) => column.primaryKey())
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('external_uid', 'text')
      .addColumn('metadata_json', 'text')
      .addColumn('dedupe_key', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('counters')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'bigint', (column) => column.notNull())
      .execute()
    await sql`insert into counters (name, value) values ('events', 0)`.execute(db)
  }

  async function resources(db: Db) {
    await textColumns(record(db, 'pools', 'address'), 'type', 'base_mint', 'quote_mint', 'status')
      .addColumn('config', 'text')
      .addColumn('creator', 'text')
      .addColumn('name', 'text')
      .addColumn('symbol', 'text')
      .addColumn('metadata_uri', 'text')
      .execute()
    await textColumns(record(db, 'fee_claims', 'id'), 'type', 'pool_address')
      .addColumn('signature', 'text')
      .addColumn('recipients_json', 'text')
      .addColumn('occurred_at', 'bigint', (column) => column.notNull())
      .execute()
    await textColumns(record(db, 'merkle_trees', 'id'), 'mint', 'root', 'total', 'list_sha256', 'status')
      .addColumn('airdrop_count', 'integer', (column) => column.notNull())
      .addColumn('leaf_count', 'integer', (column) => column.notNull())
      .addUniqueConstraint('merkle_trees_mint_airdrop_count', ['mint', 'airdrop_count'])
      .execute()
    await db.schema
      .createTable('merkle_blobs')
      .addColumn('tree_id', 'text', (column) => column.notNull().references('merkle_trees.id').onDelete('cascade'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('n', 'integer', (column) => column.notNull())
      .addColumn('bytes', blob, (column) => column.notNull())
      .addPrimaryKeyConstraint('merkle_blobs_pk', ['tree_id', 'kind', 'n'])
      .execute()
    await textColumns(record(db, 'tokens', 'mint'), 'status', 'token_program')
      .addColumn('raw_json', 'text')
      .execute()
    await textColumns(record(db, 'nfts', 'asset'), 'collection', 'name', 'uri', 'status')
      .addColumn('owner', 'text')
      .addColumn('frozen', 'integer', (column) => column.notNull())
      .execute()
    await textColumns(record(db, 'stakes', 'asset'), 'collection', 'status')
      .addColumn('owner', 'text')
      .addColumn('platform_id', 'text')
      .execute()
    await textColumns(record(db, 'gold_locks', 'escrow'), 'user', 'mint', 'amount', 'status')
      .addColumn('unlocks_at', 'bigint', (column) => column.notNull())
      .execute()
    await textColumns(record(db, 'transactions', 'signature'), 'lifecycle')
      .addColumn('raw', blob, (column) => column.notNull())
      .addColumn('confirmation_status', 'text')
      .addColumn('err_json', 'text')
      .addColumn('slot', 'bigint', (column) => column.notNull())
      .addColumn('confirmations', 'bigint', (column) => column.notNull())
      .addColumn('tracked_resource_json', 'text')
      .execute()
  }

  async function webhooks(db: Db) {
    await textColumns(numbered(db, 'webhook_subscriptions'), 'url', 'enabled_events_json', 'secret_preview')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('active', 'integer', (column) => column.notNull())
      .addColumn('secret', blob, (column) => column.notNull())
      .addColumn('previous_secret', blob)
      .addColumn('previous_secret_until', 'bigint')
      .addColumn('disabled_reason', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
    await textColumns(numbered(db, 'webhook_deliveries'), 'subscription_id', 'event_id', 'status')
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('attempt', 'integer', (column) => column.notNull())
      .addColumn('response_code', 'integer')
      .addColumn('duration_ms', 'integer')
      .addColumn('error', 'text')
      .addColumn('next_attempt_at', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  }
}

/**
 * Table and columns of each index. Indexes of lists end in `seq`, so that a page of a filtered list reads only its own
 * rows.
 */
const GROUND_INDEXES: readonly [table: string, ...columns: string[]][] = [
  ['rate_hits', 'api_key_id', 'at'],
  ['rate_hits', 'at'],
  ['idempotency_keys', 'expires_at'],
  ['idempotency_keys', 'owner', 'state'],
  ['events', 'type', 'sequence'],
  ['events', 'resource_type', 'resource_id', 'sequence'],
  ['events', 'resource_id', 'sequence'],
  ['events', 'created_at'],
  ['pools', 'status', 'seq'],
  ['pools', 'type', 'seq'],
  ['pools', 'creator', 'seq'],
  ['fee_claims', 'pool_address', 'seq'],
  ['merkle_trees', 'mint', 'seq'],
  ['merkle_trees', 'status', 'seq'],
  ['tokens', 'status', 'seq'],
  ['nfts', 'owner', 'seq'],
  ['nfts', 'collection', 'seq'],
  ['stakes', 'owner', 'seq'],
  ['stakes', 'collection', 'seq'],
  ['stakes', 'status', 'seq'],
  ['gold_locks', 'user', 'seq'],
  ['gold_locks', 'status', 'seq'],
  ['transactions', 'lifecycle', 'seq'],
  ['webhook_subscriptions', 'active', 'seq'],
  ['webhook_deliveries', 'subscription_id', 'seq'],
  ['webhook_deliveries', 'event_id'],
]

/** Adds text columns that are never null. */
function textColumns<T extends string, C extends string, N extends string>(
  table: CreateTableBuilder<T, C>,
  ...names: N[]
) {
  return names.reduce<CreateTableBuilder<T, C | N>>(
    (built, name) => built.addColumn(name, 'text', (column) => column.notNull()),
    table,
  )
}
