/** Prometheus metrics of this process. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

export interface Metrics {
  /** Counts one answered request. */
  request(method: string, route: string, status: number, seconds: number): void
  text(): Promise<string>
  contentType: string
  registry: Registry
}

export function createMetrics({ processMetrics = false } = {}): Metrics {
  const registry = new Registry()
  if (processMetrics) collectDefaultMetrics({ register: registry })
  const labelNames = ['method', 'route', 'status'] as const
  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'Answered requests',
    labelNames,
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames,
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers: [registry],
  })
  return {
    request(method, route, status, seconds) {
      const labels = { method, route, status: String(status) }
      requests.inc(labels)
      durations.observe(labels, seconds)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  }
}
