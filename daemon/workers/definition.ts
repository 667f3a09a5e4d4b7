/** The definition of a worker: a name, a schedule and a tick, which runs under a lease. */
import type { WorkerName } from '../../src/api/worker-names.ts'
import type { Services } from '../../src/context.ts'
import type { Metrics } from '../metrics.ts'
import type { WorkerSchedule } from './timing.ts'

export type WorkerServices = Pick<
  Services,
  'config' | 'store' | 'vault' | 'clock' | 'log' | 'chain' | 'programs' | 'signer' | 'wake' | 'ending' | 'repeat'
>

export interface WorkerContext extends WorkerServices {
  metrics: Pick<Metrics, 'clockFault'>
  /**
   * Aborted at the deadline, when the lease is lost, and when a shutdown stops waiting. The tick must then end and
   * write nothing more.
   */
  signal: AbortSignal
  /** Aborted as soon as a shutdown begins. The tick must then start nothing new. */
  stopping: AbortSignal
  /**
   * Shows in the worker's state why part of the work is refused, although the tick succeeds. Absent if nothing shows
   * it.
   */
  report?(error: unknown): void
  /** Runs another tick after so many milliseconds, unless one runs before. Absent if nothing runs it. */
  again?(milliseconds: number): void
  /** The other workers and tasks of this process that have stalled, with the reason. Absent if nothing runs them. */
  stalled?(): { worker: string; reason: string }[]
  /** Calls `listener` whenever the worker is woken during its tick; absent if nothing can wake it. */
  onWake?(listener: () => void): void
}

export interface WorkerDefinition {
  /** The name of a worker that the API shows, or of an internal task that it does not show. */
  name:
    | WorkerName
    | 'chain-reconciliation'
    | 'ledger'
    | 'fee-schedules'
    | 'pay-requests'
    | 'housekeeping'
    | 'clock-repair'
    | 'program-watch'
    | 'rule-proposals'
    | 'attention'
    | 'attention-notices'
    | 'process-attention'
    | 'record-check'
    | 'raises'
  schedule: WorkerSchedule
  /** Every process runs it, for itself. Without this, one process at a time does, under a lease. */
  isOfProcess?: true
  /** Milliseconds for which other processes consider this one alive after it last renewed its lease. */
  leaseMs: number
  /** The most milliseconds that a tick may take; a minute by default. */
  deadlineMs?: number
  /** Does a bounded amount of work. It must be idempotent, because another process may repeat it after a crash. */
  tick(context: WorkerContext): Promise<void>
}
