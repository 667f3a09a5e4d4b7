/**
 * Metrics of calls to other services, deliveries, steps of transactions, ended schedule runs, waits for the database
 * and removed rows.
 */
import { Counter, Histogram, type Registry } from 'prom-client'
import { type FinishedCall, onCalls } from '../../src/platform/telemetry/calls.ts'
import { onFailovers } from '../../src/platform/telemetry/failovers.ts'
import { onScheduleRuns, SCHEDULE_RUN_ENDS } from '../../src/platform/telemetry/schedule-runs.ts'
import { onTransactionSteps, type TransactionStep } from '../../src/platform/telemetry/transactions.ts'
import { onPoolWaits, type PoolWait } from '../../src/store/postgres/pool-waits.ts'
import { onRemovedRows, PRUNED_TABLES, type RemovedRows } from '../../src/store/writing/in-steps.ts'

/** The most endpoints and methods with their own label; the settings name only a few. */
const MOST_NAMES = 64
const OTHER = 'other'

const CALL_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const CONFIRM_BUCKETS = [0.5, 1, 2, 5, 10, 20, 40, 60, 90, 150, 300]
const WAIT_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5]

/** Registers the metrics. The returned function starts counting, and returns the function that stops it. */
export function createCallMetrics(registry: Registry): () => () => void {
  const registers = [registry]
  const calls = new Counter({
    name: 'svc_rpc_calls_total',
    help: 'Requests to the RPC node, by host, with several endpoints also by position; "refused" blames the request; "busy", "failed" and "unanswered" blame the node',
    labelNames: ['endpoint', 'method', 'outcome'] as const,
    registers,
  })
  const callSeconds = new Histogram({
    name: 'svc_rpc_call_duration_seconds',
    help: 'Duration of a request to the RPC node',
    labelNames: ['endpoint'] as const,
    buckets: CALL_BUCKETS,
    registers,
  })
  const failovers = new Histogram({
    name: 'svc_rpc_failover_duration_seconds',
    help: 'Time until another RPC endpoint than the first one had answered',
    buckets: CALL_BUCKETS,
    registers,
  })
  const providerCalls = new Counter({
    name: 'svc_provider_calls_total',
    help: 'Requests to the relay, the signer, the metadata provider, the price source and the bucket of images (storage)',
    labelNames: ['service', 'endpoint', 'outcome'] as const,
    registers,
  })
  const providerSeconds = new Histogram({
    name: 'svc_provider_call_duration_seconds',
    help: 'Duration of a request to a provider',
    labelNames: ['service'] as const,
    buckets: CALL_BUCKETS,
    registers,
  })
  const attempts = new Counter({
    name: 'svc_webhook_attempts_total',
    help: 'Attempts to deliver an event',
    labelNames: ['outcome'] as const,
    registers,
  })
  const attemptSeconds = new Histogram({
    name: 'svc_webhook_attempt_duration_seconds',
    help: 'Time until the receiver answered an attempt, or the attempt was abandoned',
    buckets: CALL_BUCKETS,
    registers,
  })
  const transactions = new Counter({
    name: 'svc_transactions_total',
    help: 'Followed transactions that reached a state',
    labelNames: ['state'] as const,
    registers,
  })
  const confirmSeconds = new Histogram({
    name: 'svc_transaction_confirm_seconds',
    help: 'Time from the submission of a transaction until it was seen as confirmed',
    buckets: CONFIRM_BUCKETS,
    registers,
  })
  const scheduleRuns = new Counter({
    name: 'svc_fee_schedule_runs_total',
    help: 'Runs of fee schedules that ended in this process',
    labelNames: ['status'] as const,
    registers,
  })
  for (const status of SCHEDULE_RUN_ENDS) scheduleRuns.inc({ status }, 0)
  const waits = new Histogram({
    name: 'svc_database_pool_wait_seconds',
    help: 'Time until a connection to PostgreSQL was available',
    labelNames: ['user'] as const,
    buckets: WAIT_BUCKETS,
    registers,
  })
  const failedWaits = new Counter({
    name: 'svc_database_pool_timeouts_total',
    help: 'Operations that got no connection to PostgreSQL',
    labelNames: ['user'] as const,
    registers,
  })
  const removedRows = new Counter({
    name: 'svc_retention_rows_removed_total',
    help: 'Rows that this process removed because of their age or a cut of the audit log; for transactions only their bytes',
    labelNames: ['table'] as const,
    registers,
  })
  for (const table of PRUNED_TABLES) removedRows.inc({ table }, 0)
  const [endpoints, methods] = [boundedNames(), boundedNames()]

  function countCall({ service, endpoint, operation, outcome, seconds }: FinishedCall): void {
    if (service === 'webhook') {
      attempts.inc({ outcome })
      attemptSeconds.observe(seconds)
    } else if (service === 'rpc') {
      calls.inc({ endpoint: endpoints(endpoint), method: methods(operation), outcome })
      callSeconds.observe({ endpoint: endpoints(endpoint) }, seconds)
    } else {
      providerCalls.inc({ service, endpoint: endpoints(endpoint), outcome })
      providerSeconds.observe({ service }, seconds)
    }
  }

  function countStep({ state, confirmSeconds: seconds }: TransactionStep): void {
    transactions.inc({ state })
    if (seconds !== undefined) confirmSeconds.observe(seconds)
  }

  function countWait({ user, seconds, failed }: PoolWait): void {
    waits.observe({ user }, seconds)
    if (failed) failedWaits.inc({ user })
  }

  const countRemoved = ({ table, rows }: RemovedRows) => removedRows.inc({ table }, rows)

  return () => {
    const stops = [
      onCalls(countCall),
      onTransactionSteps(countStep),
      onPoolWaits(countWait),
      onRemovedRows(countRemoved),
      onScheduleRuns((status) => scheduleRuns.inc({ status })),
      onFailovers(({ seconds }) => failovers.observe(seconds)),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }
}

/** Names become labels unchanged, up to a limit; further names share one label. */
function boundedNames(): (name: string) => string {
  const known = new Set<string>()
  return (name) => {
    if (known.size < MOST_NAMES) known.add(name)
    return known.has(name) ? name : OTHER
  }
}
