/** Runs the fee schedules that are due, in bounded rounds: starts runs for their periods, then takes a step of each run in turn. */
import { createBudget } from '../../following/budget.ts'
import { Overtaken } from '../../platform/errors.ts'
import {
  dueFeeScheduleRuns,
  type FeeScheduleRunRow,
  postponeFeeScheduleRun,
} from '../../store/fees/fee-schedule-runs.ts'
import type { ScheduleServices } from './claim-share.ts'
import { STEP_CALLS, type StepSignals, stepRun } from './step-run.ts'
import { takePeriods } from './take-periods.ts'

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
