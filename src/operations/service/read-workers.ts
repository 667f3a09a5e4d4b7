/** Reads the state of the background workers. */
import type { Worker, WorkerStatus } from '../../api/index.ts'
import type { Context } from '../../context.ts'
import { waitingItems } from './waiting.ts'
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
