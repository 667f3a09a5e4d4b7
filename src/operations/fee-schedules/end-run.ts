/** Ends a run of a fee schedule, with the event that tells what it did. */
import type { ScheduleRunReason } from '../../api/fee-schedules.ts'
import type { Clock } from '../../context.ts'
import { writeEvents } from '../../store/event-drafts.ts'
import { type FeeScheduleRunRow, findRunUnderWay, moveFeeScheduleRun } from '../../store/fee-schedule-runs.ts'
import type { Tx } from '../../store/store.ts'
import { feeScheduleRunRecord } from './fee-schedule-record.ts'

export interface RunEnd {
  status: 'done' | 'skipped' | 'stopped'
  reason: ScheduleRunReason | null
}

/** Returns false when another process has moved or ended the run since it was read. */
export async function endRun(
  { clock }: { clock: Clock },
  tx: Tx,
  run: Pick<FeeScheduleRunRow, 'id' | 'position'>,
  end: RunEnd,
): Promise<boolean> {
  const changes = { ...end, terms_json: null, next_step_at: null, ended_at: clock.now() }
  const ended = await moveFeeScheduleRun(tx, run, changes)
  if (ended === null) return false
  const { external_uid: _, metadata: __, ...object } = feeScheduleRunRecord(ended)
  const about = { resource_type: 'fee_schedule', resource_id: ended.schedule_id, dedupe_by: ended.id, origin: ended }
  await writeEvents(tx, clock, [{ type: 'fee_claim.scheduled_run', object, ...about }])
  return true
}

/** Ends the run that is under way for a schedule, if there is one; the caller holds the schedule's row. */
export async function stopRunUnderWay(
  services: { clock: Clock },
  tx: Tx,
  scheduleId: string,
  reason: ScheduleRunReason,
): Promise<void> {
  // A worker may move the run between the two statements, which is seen at the second look.
  for (let run = await findRunUnderWay(tx, scheduleId); run !== null; run = await findRunUnderWay(tx, scheduleId)) {
    if (await endRun(services, tx, run, { status: 'stopped', reason })) return
  }
}
