/** What a worker is: a name, a schedule and a tick, which the frame runs under a lease. */
import type { WorkerName } from '../../src/api/service.ts'
import type { Services } from '../../src/context.ts'
import type { Metrics } from '../metrics.ts'
import type { WorkerSchedule } from './timing.ts'

export type WorkerServices = Pick<
  Services,
  'config' | 'store' | 'vault' | 'clock' | 'log' | 'chain' | 'signer' | 'wake' | 'ending'
>

export interface WorkerContext extends WorkerServices {
  metrics: Pick<Metrics, 'clockFault'>
  /** Aborted at the deadline, when the lease is lost and at a stop that waits no longer: end then, and write nothing more. */
  signal: AbortSignal
  /** Aborted as soon as a stop begins: begin nothing new then. */
  stopping: AbortSignal
}

export interface WorkerDefinition {
  /** One of the API's workers, or an internal task that it does not show. */
  name: WorkerName | 'housekeeping' | 'clock-repair'
  schedule: WorkerSchedule
  /** How long this process is believed to live without renewing its lease. */
  leaseMs: number
  /** Longest a tick may take; a minute unless given. */
  deadlineMs?: number
  /** Idempotent and bounded: another process may do the same again after a crash. */
  tick(context: WorkerContext): Promise<void>
}
