/** Reads the state of the background workers. */
import type { FeeScheduleRun } from '../../api/fee-schedules.ts'
import type { Worker, WorkerStatus } from '../../api/index.ts'
import type { WaitingItem } from '../../api/service.ts'
import type { Context } from '../../context.ts'
import { refusedFeeSchedules } from '../../store/fees/fee-schedule-runs.ts'
import { refusedCranks } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { switchedOffSubscriptions } from '../../store/webhooks/subscriptions.ts'
import { fromJson, isoTimeOrNull } from '../api-records.ts'
import { workersElsewhere } from './workers-elsewhere.ts'

export async function readWorkers({ clock, workers, role, store }: Context): Promise<WorkerStatus> {
  const states: Worker[] = role === 'api' ? await workersElsewhere(store.db, clock.now()) : workers()
  return {
    all_healthy: states.every(({ running, ticks_total, errors_total }) => running && ticks_total > errors_total),
    recently_healthy: states.every(({ healthy }) => healthy),
    observed_at: new Date(clock.now()).toISOString(),
    role,
    workers: states,
    waiting: await waitingItems(store.db),
  }
}

/** Most items of one kind. */
const MOST_SHOWN = 20

const BLOCKED = {
  signer_paused: 'the signer is paused: `svc signer resume`',
  no_signer: 'there is no platform wallet: `svc config set signer …`',
  other_cluster: 'the signer signs for another cluster: `svc config set signer.cluster …`',
  policy: 'the policy refused its claims: `svc signer policy`',
} as const

async function waitingItems(reader: Reader): Promise<WaitingItem[]> {
  const pools = await refusedCranks(reader, MOST_SHOWN)
  const subscriptions = await switchedOffSubscriptions(reader, MOST_SHOWN)
  const schedules = await refusedFeeSchedules(reader, Object.keys(BLOCKED), MOST_SHOWN)
  return [...pools.map(migrationItem), ...schedules.flatMap(scheduleItem), ...subscriptions.map(subscriptionItem)]
}

const migrationItem = ({ address, crank_error, next_check_at }: Row<'pools'>): WaitingItem => ({
  kind: 'migration',
  id: address,
  reason: crank_error ?? 'the log says why',
  next_try_at: isoTimeOrNull(next_check_at),
})

const subscriptionItem = ({ id, disabled_reason }: Row<'webhook_subscriptions'>): WaitingItem => ({
  kind: 'webhook',
  id,
  reason: disabled_reason ?? 'it was switched off',
  next_try_at: null,
})

type RefusedSchedule = Awaited<ReturnType<typeof refusedFeeSchedules>>[number]

function scheduleItem({ id, next_run_at, reason: skipped, skipped_json }: RefusedSchedule): WaitingItem[] {
  const refused = fromJson<FeeScheduleRun['skipped']>(skipped_json).find(({ reason }) => reason === 'policy')
  const blocked = Object.entries(BLOCKED).find(([reason]) => reason === skipped)?.[1]
  const reason = refused?.message ?? blocked
  return reason === undefined ? [] : [{ kind: 'fee_schedule', id, reason, next_try_at: isoTimeOrNull(next_run_at) }]
}
