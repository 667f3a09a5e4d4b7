/** What the service tells about itself: its workers, its cluster and its event types. */

import { DETECTION, EVENT_TYPES } from '../../api/event-types.ts'
import type { EventTypeItem } from '../../api/events.ts'
import type { Api, WorkerStatus } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { WaitingItem, Worker } from '../../api/service.ts'
import { WORKER_NAMES } from '../../api/worker-names.ts'
import { readSlotTime } from '../../chain/reads/slot-time.ts'
import { isBlockhashValid, readHeights } from '../../chain/reads/statuses.ts'
import type { Context } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { findLeases } from '../../store/workers/leases.ts'
import { isoTimeOrNull } from '../api-records.ts'
import { rowsOf } from '../attention/items.ts'
import { migrationReason, receiverReason, scheduleRefusal } from '../attention/kinds.ts'

type Routes = Api['service']

/** Reads the state of the background workers. */
export async function readWorkers({ clock, workers, role, store }: Context): Promise<WorkerStatus> {
  const states: Worker[] = role === 'api' ? await workersElsewhere(store.db, clock.now()) : workers()
  return {
    all_healthy: states.every(({ running, ticks_total, errors_total }) => running && ticks_total > errors_total),
    recently_healthy: states.every(({ healthy }) => healthy),
    observed_at: new Date(clock.now()).toISOString(),
    role,
    workers: states,
    waiting: await waitingItems(store.db, clock.now()),
  }
}

/** Most items of one kind. */
const MOST_SHOWN = 20

/** Lists what the service has stopped doing until somebody acts, from the database, for every daemon alike. */
async function waitingItems(reader: Reader, now: number): Promise<WaitingItem[]> {
  const wanted = { now, limit: MOST_SHOWN }
  const pools = await rowsOf(reader, 'migration_failed', wanted)
  const schedules = await rowsOf(reader, 'schedule_stopped', wanted)
  const subscriptions = await rowsOf(reader, 'receiver_off', wanted)
  return [
    ...pools.map((row) => waitingItem('migration', row.subject, migrationReason(row.crank_error), row.next_check_at)),
    ...schedules.flatMap(scheduleItem),
    ...subscriptions.map((row) => waitingItem('webhook', row.subject, receiverReason(row.disabled_reason), null)),
  ]
}

/** Only what was refused: a claim that failed is no reason to wait. */
function scheduleItem(row: Parameters<typeof scheduleRefusal>[0] & { subject: string; next_run_at: number | null }) {
  const refusal = scheduleRefusal(row)
  return refusal === null ? [] : [waitingItem('fee_schedule', row.subject, refusal, row.next_run_at)]
}

const waitingItem = (kind: WaitingItem['kind'], id: string, reason: string, next: number | null): WaitingItem => ({
  kind,
  id,
  reason,
  next_try_at: isoTimeOrNull(next),
})

/** Every worker has three turns within this time, in milliseconds. */
const SILENT_MS = 30_000

/**
 * Reads the state of each worker at `now`, in Unix milliseconds. Errors are known only in the daemon where they
 * occurred.
 */
async function workersElsewhere(reader: Reader, now: number): Promise<Worker[]> {
  const leases = await findLeases(reader, WORKER_NAMES)
  return WORKER_NAMES.map((name) =>
    workerOf(
      name,
      leases.find((lease) => lease.name === name),
      now,
    ),
  )
}

function workerOf(name: Worker['name'], lease: Row<'leases'> | undefined, now: number): Worker {
  const { slot = 0, until = 0, done = 0 } = lease ?? {}
  const isAtWork = until > now || now - slot <= SILENT_MS
  const since = slot === 0 ? 'ever' : `for ${Math.floor((now - slot) / 1000)} s`
  return {
    name,
    running: isAtWork,
    healthy: isAtWork,
    last_tick_at: slot === 0 ? null : new Date(slot).toISOString(),
    ticks_total: done,
    errors_total: 0,
    last_error: null,
    last_error_at: null,
    stalled_reason: isAtWork ? null : `no daemon has run it ${since}: start one with the role worker or all`,
  }
}

/** Throws internal_error when the node fails. Without performance samples the time of a slot is null. */
export async function readCluster(
  { chain }: Context,
  { blockhash }: Input<Routes['cluster']>,
): Promise<Result<Routes['cluster']>> {
  const [genesis_hash, heights, slot_ms, { consensus, alpenglowSlot }, blockhash_valid] = await Promise.all([
    chain.genesisHash(),
    readHeights(chain),
    readSlotTime(chain),
    chain.consensus.read(),
    blockhash === undefined ? undefined : isBlockhashValid(chain, blockhash),
  ])
  return {
    cluster: chain.cluster.label,
    genesis_hash,
    ...heights,
    slot_ms,
    consensus,
    alpenglow_slot: alpenglowSlot,
    ...(blockhash_valid === undefined ? {} : { blockhash_valid }),
  }
}

/** Returns the catalogue of event types. */
export async function listEventTypes(): Promise<EventTypeItem[]> {
  return EVENT_TYPES.map((type) => ({ type, detection: DETECTION[type] }))
}
