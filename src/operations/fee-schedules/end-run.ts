/** Ends a run of a fee schedule, and publishes its result for the metrics. */
import type { ScheduleRunReason } from '../../api/fee-schedules.ts'
import type { Clock } from '../../context.ts'
import { publishScheduleRun, type ScheduleRunStatus } from '../../platform/telemetry/schedule-runs.ts'
import { type FeeScheduleRunRow, findRunUnderWay, moveFeeScheduleRun } from '../../store/fees/fee-schedule-runs.ts'
import type { Tx } from '../../store/store.ts'
import { onCommit } from '../../store/writing/work.ts'

export interface RunEnd {
  status: ScheduleRunStatus
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
  if ((await moveFeeScheduleRun(tx, run, changes)) === null) return false
  onCommit(() => publishScheduleRun(end.status))
  return true
}

/** Ends the current run of a schedule, if there is one. The caller has locked the schedule's row. */
export async function stopRunUnderWay(
  services: { clock: Clock },
  tx: Tx,
  scheduleId: string,
  reason: ScheduleRunReason,
): Promise<void> {
  // A worker may change the run between the two statements; the second attempt sees that.
  for (let run = await findRunUnderWay(tx, scheduleId); run !== null; run = await findRunUnderWay(tx, scheduleId)) {
    if (await endRun(services, tx, run, { status: 'stopped', reason })) return
  }
}
