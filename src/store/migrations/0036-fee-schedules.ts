/** Adds the tables of the fee schedules, their runs and the claims of these. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function feeScheduleTables({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('fee_schedules')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('cron', 'text', (column) => column.notNull())
        .addColumn('timezone', 'text', (column) => column.notNull())
        .addColumn('terms_json', 'text', (column) => column.notNull())
        .addColumn('active', 'integer', (column) => column.notNull())
        .addColumn('next_run_at', 'bigint')
        .addColumn('planned_at', 'bigint', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .addColumn('updated_by', 'text', (column) => column.notNull())
        .addColumn('external_uid', 'text')
        .addColumn('metadata_json', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema.createIndex('fee_schedules_by_active').on('fee_schedules').columns(['active', 'seq']).execute()
      for (const name of ['next_run_at', 'planned_at']) {
        await db.schema
          .createIndex(`fee_schedules_by_${name}`)
          .on('fee_schedules')
          .columns([name, 'seq'])
          .where(sql.ref('next_run_at'), 'is not', null)
          .execute()
      }
      await db.schema
        .createTable('fee_schedule_runs')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('schedule_id', 'text', (column) => column.notNull())
        .addColumn('scheduled_at', 'bigint')
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('reason', 'text')
        .addColumn('missed', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('missed_from', 'bigint')
        .addColumn('missed_until', 'bigint')
        .addColumn('terms_json', 'text')
        .addColumn('position', 'bigint', (column) => column.notNull().defaultTo(0))
        .addColumn('pools', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('claimed', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('claims_json', 'text', (column) => column.notNull().defaultTo('[]'))
        .addColumn('skipped_json', 'text', (column) => column.notNull().defaultTo('[]'))
        .addColumn('skips_json', 'text', (column) => column.notNull().defaultTo('{}'))
        .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('next_step_at', 'bigint')
        .addColumn('external_uid', 'text')
        .addColumn('metadata_json', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('ended_at', 'bigint')
        .addUniqueConstraint('fee_schedule_runs_period', ['schedule_id', 'scheduled_at'])
        .execute()
      await db.schema
        .createIndex('fee_schedule_runs_by_schedule_id')
        .on('fee_schedule_runs')
        .columns(['schedule_id', 'seq'])
        .execute()
      // Only runs under way are in these.
      await db.schema
        .createIndex('fee_schedule_runs_by_next_step_at')
        .on('fee_schedule_runs')
        .columns(['next_step_at', 'seq'])
        .where(sql.ref('next_step_at'), 'is not', null)
        .execute()
      await db.schema
        .createIndex('fee_schedule_runs_by_ended_at')
        .on('fee_schedule_runs')
        .columns(['ended_at'])
        .where(sql.ref('ended_at'), 'is not', null)
        .execute()
      // Of a schedule at most one run is under way, whoever begins one.
      await db.schema
        .createIndex('fee_schedule_runs_running')
        .unique()
        .on('fee_schedule_runs')
        .columns(['schedule_id'])
        .where(sql.ref('status'), '=', sql.lit('running'))
        .execute()
      await db.schema
        .createTable('fee_schedule_claims')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('run_id', 'text', (column) => column.notNull())
        .addColumn('pool_address', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('signing_id', 'text')
        .addColumn('signature', 'text')
        .addColumn('estimated_quote', 'text')
        .addColumn('reason', 'text')
        .addColumn('message', 'text')
        .addUniqueConstraint('fee_schedule_claims_key', ['run_id', 'pool_address', 'kind'])
        .execute()
    },
  }
}
