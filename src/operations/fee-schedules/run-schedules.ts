/** Runs the fee schedules that are due, in bounded rounds: starts runs for their periods, then takes a step of each run in turn. */

import type { Services } from '../../context.ts'
import { createBudget } from '../../following/budget.ts'
import { Overtaken } from '../../platform/errors.ts'
import {
  dueFeeScheduleRuns,
  type FeeScheduleRunRow,
  findRunUnderWay,
  insertPeriodRun,
  postponeFeeScheduleRun,
} from '../../store/fees/fee-schedule-runs.ts'
import {
  dueFeeSchedules,
  type FeeScheduleRow,
  feeSchedulesPlannedAfter,
  lockFeeSchedule,
  planFeeSchedule,
} from '../../store/fees/fee-schedules.ts'
import { newId } from '../../store/id.ts'
import { CLOCK_SLACK_MS } from '../../store/writing/future-moments.ts'
import type { ScheduleServices } from './claim-share.ts'
import { type CronTimes, openCron } from './cron-times.ts'
import { STEP_CALLS, type StepSignals, stepRun } from './step-run.ts'

/** Calls to the node in one round. A claim takes about twelve. */
const SCHEDULE_ROUND_CALLS = 120
/** Runs that advance by a step in one round. The one that has waited longest is first. */
const RUNS_PER_ROUND = 20
/** Wait after a step that failed, for example while the node fails. */
const FAILED_STEP_WAIT_MS = 30_000

/**
 * A run that fails is logged and due again, and does not stop the others. Throws when the database fails, and between
 * two steps once `signal` is aborted.
 */
export async function runFeeSchedules(services: ScheduleServices, signals: StepSignals = {}): Promise<void> {
  const { store, clock } = services
  const { signal, stopping } = signals
  await takePeriods(services, signal)
  const budget = createBudget(SCHEDULE_ROUND_CALLS)
  while (budget.left >= STEP_CALLS) {
    const runs = await dueFeeScheduleRuns(store.db, clock.now(), RUNS_PER_ROUND)
    if (runs.length === 0) return
    for (const run of runs) {
      signal?.throwIfAborted()
      if (stopping?.aborted || budget.left < STEP_CALLS) return
      await stepOrPostpone(services, run, () => stepRun(services, run, budget, signals))
    }
  }
}

async function stepOrPostpone(
  { store, clock, log }: ScheduleServices,
  run: FeeScheduleRunRow,
  step: () => Promise<void>,
): Promise<void> {
  const about = { schedule: run.schedule_id, run: run.id }
  try {
    await step()
  } catch (error) {
    if (error instanceof Overtaken) {
      log.debug({ ...about, why: error.message }, 'another process has taken over a run of a fee schedule')
    } else {
      log.error({ ...about, err: error }, 'a step of a fee schedule’s run failed, and is tried again')
    }
    // A later time that the step itself stored stays.
    await store.write((tx) => postponeFeeScheduleRun(tx, run, clock.now() + FAILED_STEP_WAIT_MS))
  }
}

// Takes the due periods of fee schedules: one run for each, which no other process starts a second time.

type PeriodServices = Pick<Services, 'store' | 'clock' | 'log'>

/** Schedules in one round. */
const SCHEDULES_PER_ROUND = 50
/** Wait for a schedule whose times cannot be computed, for example because this Node lacks its time zone. */
const UNTOLD_WAIT_MS = 600_000
/** Missed periods are counted up to this number. The first and the last are always reported. */
const MOST_MISSED_COUNTED = 1_000

/**
 * A period is identified by its time in the cron expression. So it is taken once, even if a clock reaches that time
 * repeatedly. Periods that were missed before it are reported in its run and have no run of their own.
 */
export async function takePeriods(services: PeriodServices, signal?: AbortSignal): Promise<void> {
  const { store, clock } = services
  for (const row of await feeSchedulesPlannedAfter(store.db, clock.now() + CLOCK_SLACK_MS, SCHEDULES_PER_ROUND)) {
    signal?.throwIfAborted()
    await planAgain(services, row)
  }
  for (const row of await dueFeeSchedules(store.db, clock.now(), SCHEDULES_PER_ROUND)) {
    signal?.throwIfAborted()
    await takePeriod(services, row)
  }
}

/**
 * Plans the next period again if a fast clock put it too far into the future. Periods in between may be due already.
 */
async function planAgain(services: PeriodServices, row: FeeScheduleRow): Promise<void> {
  const { store, log } = services
  const plan = await tellTimes(services, row, (times, now) => ({ next_run_at: times.after(now), planned_at: now }))
  if (plan === null) return
  await store.write((tx) => planFeeSchedule(tx, row, plan))
  log.warn({ schedule: row.id }, 'rescheduled: the next period was planned by a clock that was ahead')
}

async function takePeriod(services: PeriodServices, row: FeeScheduleRow): Promise<void> {
  const { store, log } = services
  const told = await tellTimes(services, row, (times, now) => ({
    now,
    period: periodOf(times, row, now),
    plan: { next_run_at: times.after(now), planned_at: now },
  }))
  if (told === null) return
  const { now, period, plan } = told
  const run = await store.write(async (tx) => {
    // A run that was requested meanwhile comes first, and the period stays due.
    if ((await lockFeeSchedule(tx, row.id)) === null || (await findRunUnderWay(tx, row.id)) !== null) return null
    if (!(await planFeeSchedule(tx, row, plan)) || period === null) return null
    return insertPeriodRun(tx, {
      id: newId('fsr'),
      schedule_id: row.id,
      ...period,
      status: 'running',
      reason: null,
      terms_json: row.terms_json,
      next_step_at: now,
      external_uid: row.external_uid,
      metadata_json: row.metadata_json,
      created_at: now,
    })
  })
  if (run !== null && run.missed > 0) {
    const { missed } = run
    log.warn({ schedule: row.id, run: run.id, missed }, 'periods of a fee schedule were missed: one run covers them')
  }
}

/**
 * Returns the result of `tell` for the row's times. If they cannot be computed, it returns null and only this row
 * waits.
 */
async function tellTimes<T>(
  { store, clock, log }: PeriodServices,
  row: FeeScheduleRow,
  tell: (times: CronTimes, now: number) => T,
): Promise<T | null> {
  const now = clock.now()
  try {
    return tell(await openCron(row.cron, row.timezone, now), now)
  } catch (error) {
    log.error(
      { schedule: row.id, err: error },
      'the periods of a fee schedule cannot be computed, and are tried again later',
    )
    await store.write((tx) => planFeeSchedule(tx, row, { next_run_at: now + UNTOLD_WAIT_MS, planned_at: now }))
    return null
  }
}

/** The latest due period with the missed ones before it; null if a change of the time zone's rules left none. */
function periodOf(times: CronTimes, { next_run_at }: FeeScheduleRow, now: number) {
  const from = next_run_at ?? now
  const last = times.lastUntil(now, from, MOST_MISSED_COUNTED)
  if (last === null) return null
  const { at, before, previous } = last
  const missed = before === 0 ? {} : { missed: before, missed_from: times.after(from - 1), missed_until: previous }
  return { scheduled_at: at, ...missed }
}
