/** Publishes how runs of fee schedules end. */
import { channel } from 'node:diagnostics_channel'

export const SCHEDULE_RUN_ENDS = ['done', 'skipped', 'stopped'] as const
export type ScheduleRunStatus = (typeof SCHEDULE_RUN_ENDS)[number]

const runs = channel('svc.schedule-run')

export const publishScheduleRun = (status: ScheduleRunStatus): void => runs.publish(status)

/** Receives the status of every run that ends until the returned function is called. */
export function onScheduleRuns(act: (status: ScheduleRunStatus) => void): () => void {
  const listener = (message: unknown) => act(message as ScheduleRunStatus)
  runs.subscribe(listener)
  return () => runs.unsubscribe(listener)
}
