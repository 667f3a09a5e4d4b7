/** Storage of fee schedules, and selection of those that are due. */
import { finding, inserting, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type FeeScheduleRow = Row<'fee_schedules'>

export const insertFeeSchedule = inserting('fee_schedules')
export const findFeeSchedule = finding('fee_schedules', 'id')
export const updateFeeSchedule = updating('fee_schedules', 'id')
export const pageFeeSchedules = listing('fee_schedules', ['active'], { weights: { terms_json: 1, metadata_json: 1 } })

export const allFeeSchedules = (reader: Reader): Promise<FeeScheduleRow[]> =>
  reader.selectFrom('fee_schedules').selectAll().orderBy('seq').execute()

/** Returns the row and locks it until the commit. An update without a change does this on both databases. */
export const lockFeeSchedule = (tx: Tx, id: string) => updateFeeSchedule(tx, id, { id })

/** Returns schedules with a due period and no current run, the longest overdue first. */
export function dueFeeSchedules(reader: Reader, now: number, limit: number): Promise<FeeScheduleRow[]> {
  return reader
    .selectFrom('fee_schedules')
    .selectAll()
    .where('next_run_at', '<=', now)
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom('fee_schedule_runs')
            .select('fee_schedule_runs.seq')
            .whereRef('fee_schedule_runs.schedule_id', '=', 'fee_schedules.id')
            .where('fee_schedule_runs.status', '=', 'running'),
        ),
      ),
    )
    .orderBy('next_run_at')
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Returns active schedules whose next period was computed after `at`, by a clock that was ahead. */
export function feeSchedulesPlannedAfter(reader: Reader, at: number, limit: number): Promise<FeeScheduleRow[]> {
  return reader
    .selectFrom('fee_schedules')
    .selectAll()
    .where('next_run_at', 'is not', null)
    .where('planned_at', '>', at)
    .orderBy('planned_at')
    .orderBy('seq')
    .limit(limit)
    .execute()
}

/** Stores the next period. Returns false if another process has changed the schedule since it was read. */
export async function planFeeSchedule(
  tx: Tx,
  { id, next_run_at, planned_at, updated_at }: FeeScheduleRow,
  plan: Pick<FeeScheduleRow, 'next_run_at' | 'planned_at'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('fee_schedules')
    .set(plan)
    .where('id', '=', id)
    .where('next_run_at', '=', next_run_at)
    .where('planned_at', '=', planned_at)
    .where('updated_at', '=', updated_at)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function deleteFeeSchedule(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('fee_schedules').where('id', '=', id).execute()
}
