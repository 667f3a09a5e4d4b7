/** Mounts the routes of fee schedules, one line per verb. */
import { feeSchedules } from '../../src/api/fee-schedules.ts'
import {
  createFeeSchedule,
  deleteFeeScheduleById,
  getFeeSchedule,
  listFeeScheduleRuns,
  listFeeSchedules,
  runFeeSchedule,
  updateFeeScheduleById,
} from '../../src/operations/fee-schedules/verbs.ts'
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
