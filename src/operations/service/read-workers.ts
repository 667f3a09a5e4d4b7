/** Reads the state of the background workers. */
import type { Worker, WorkerStatus } from '../../api/index.ts'
import type { Context } from '../../context.ts'

export async function readWorkers({ clock, workers }: Context): Promise<WorkerStatus> {
  const states: Worker[] = workers()
  return {
    all_healthy: states.every(({ healthy }) => healthy),
    observed_at: new Date(clock.now()).toISOString(),
    workers: states,
  }
}
