/** The Prometheus metrics of this process. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createCallMetrics } from './metrics/calls.ts'
import { createHttpMetrics, type HttpMetrics } from './metrics/http.ts'

export interface Metrics {
  http: HttpMetrics
  /** Counts calls, deliveries, transactions and waits of this process until the returned function is called. */
  observe(): () => void
  /** Counts one tick of a worker that ended at `at` (Unix milliseconds). */
  tick(worker: string, outcome: { failed: boolean; seconds: number; at: number }): void
  /** Sets whether a worker is stalled: it has completed no tick for three periods. */
  stalled(worker: string, isStalled: boolean): void
  /** Counts stored times that are implausibly far in the future, so a clock was wrong. */
  clockFault(what: string, count: number): void
  text(): Promise<string>
  contentType: string
  registry: Registry
}

interface MetricsOptions {
  processMetrics?: boolean
  /** Log lines that were dropped because no reader took them. */
  droppedLines?: () => number
}

export function createMetrics({ processMetrics = false, droppedLines = () => 0 }: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  if (processMetrics) collectDefaultMetrics({ register: registry })
  const http = createHttpMetrics()
  const observe = createCallMetrics(registry)
  new Counter({
    name: 'svc_log_lines_dropped_total',
    help: 'Log lines that were dropped because no reader took them in time',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(droppedLines())
    },
  })
  const ofWorker = { labelNames: ['worker'] as const, registers: [registry] }
  const ticks = new Counter({ name: 'svc_worker_ticks_total', help: 'Successful ticks of a worker', ...ofWorker })
  const failures = new Counter({ name: 'svc_worker_errors_total', help: 'Failed ticks of a worker', ...ofWorker })
  const lastTicks = new Gauge({
    name: 'svc_worker_last_tick_timestamp_seconds',
    help: 'When the last successful tick of a worker ended',
    ...ofWorker,
  })
  const tickDurations = new Histogram({
    name: 'svc_worker_tick_duration_seconds',
    help: 'Duration of a tick of a worker',
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60],
    ...ofWorker,
  })
  const stalls = new Gauge({
    name: 'svc_worker_stalled',
    help: '1 if a worker has completed no tick for three periods',
    ...ofWorker,
  })
  const clockFaults = new Counter({
    name: 'svc_clock_faults_total',
    help: 'Stored times that were implausibly far in the future: a clock was wrong',
    labelNames: ['what'] as const,
    registers: [registry],
  })
  return {
    stalled: (worker, isStalled) => stalls.set({ worker }, isStalled ? 1 : 0),
    clockFault: (what, count) => clockFaults.inc({ what }, count),
    tick(worker, { failed, seconds, at }) {
      tickDurations.observe({ worker }, seconds)
      if (failed) return failures.inc({ worker })
      ticks.inc({ worker })
      lastTicks.set({ worker }, at / 1000)
    },
    http,
    observe,
    text: async () => `${http.text()}\n${await registry.metrics()}`,
    contentType: registry.contentType,
    registry,
  }
}
