/** Mounts the routes of fee schedules, one line per verb. */
import { feeSchedules } from '../../src/api/fee-schedules.ts'
import { createFeeSchedule } from '../../src/operations/fee-schedules/create-fee-schedule.ts'
import { deleteFeeScheduleById } from '../../src/operations/fee-schedules/delete-fee-schedule.ts'
import { getFeeSchedule } from '../../src/operations/fee-schedules/get-fee-schedule.ts'
import { listFeeScheduleRuns } from '../../src/operations/fee-schedules/list-fee-schedule-runs.ts'
import { listFeeSchedules } from '../../src/operations/fee-schedules/list-fee-schedules.ts'
import { runFeeSchedule } from '../../src/operations/fee-schedules/run-fee-schedule.ts'
import { updateFeeScheduleById } from '../../src/operations/fee-schedules/update-fee-schedule.ts'
import type { Mount } from '../mount.ts'

export function feeSchedulesRoutes(mount: Mount): void {
  mount(feeSchedules.create, createFeeSchedule)
  mount.stored(feeSchedules.list, listFeeSchedules)
  mount.stored(feeSchedules.get, getFeeSchedule)
  mount(feeSchedules.update, updateFeeScheduleById)
  mount(feeSchedules.delete, deleteFeeScheduleById)
  mount.stored(feeSchedules.runs, listFeeScheduleRuns)
  mount(feeSchedules.run, runFeeSchedule)
}
