/** Metrics of answered requests, stored as plain numbers because counting must be very cheap. */

/** Why a 5xx is not a fault of the server: a setting that the request needs is missing, or the daemon is starting. */
export type AnswerReason = 'not_configured' | 'starting'

export interface HttpMetrics {
  /** A request has arrived. */
  begin(): void
  /** Its answer is ready; `route` is a template, never a path, so the number of series is limited. */
  answered(method: string, route: string, status: number, seconds: number, bytes: number, reason?: AnswerReason): void
  end(): void
  /** The metrics in Prometheus' text format. */
  text(): string
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

interface RouteFigures {
  labels: string
  count: number
  seconds: number
  bytes: number
  /** Answers by the first bucket that includes them; the last element counts those beyond all buckets. */
  buckets: number[]
  /** By the labels of status and reason. */
  statuses: Map<string, number>
}

export function createHttpMetrics(): HttpMetrics {
  const routes = new Map<string, Map<string, RouteFigures>>()
  let inFlight = 0

  function figuresOf(method: string, route: string): RouteFigures {
    const known = routes.get(route)?.get(method)
    if (known !== undefined) return known
    const figures: RouteFigures = {
      labels: `method="${method}",route="${route}"`,
      count: 0,
      seconds: 0,
      bytes: 0,
      buckets: new Array(BUCKETS.length + 1).fill(0),
      statuses: new Map(),
    }
    routes.set(route, (routes.get(route) ?? new Map()).set(method, figures))
    return figures
  }

  return {
    begin() {
      inFlight++
    },
    end() {
      inFlight--
    },
    answered(method, route, status, seconds, bytes, reason) {
      const figures = figuresOf(method, route)
      figures.count++
      figures.seconds += seconds
      figures.bytes += bytes
      const outcome = reason === undefined ? `status="${status}"` : `status="${status}",reason="${reason}"`
      figures.statuses.set(outcome, (figures.statuses.get(outcome) ?? 0) + 1)
      let place = 0
      while (place < BUCKETS.length && seconds > (BUCKETS[place] ?? 0)) place++
      figures.buckets[place] = (figures.buckets[place] ?? 0) + 1
    },
    text() {
      const all = [...routes.values()].flatMap((ofRoute) => [...ofRoute.values()])
      return [
        ...head('svc_http_requests_total', 'counter', 'Answered requests'),
        ...all.flatMap(({ labels, statuses }) =>
          [...statuses].map(([outcome, count]) => `svc_http_requests_total{${labels},${outcome}} ${count}`),
        ),
        ...head('svc_http_request_duration_seconds', 'histogram', 'Time from request to answer'),
        ...all.flatMap(histogramLines),
        ...head('svc_http_response_bytes_total', 'counter', 'Bytes of the bodies of answers'),
        ...all.map(({ labels, bytes }) => `svc_http_response_bytes_total{${labels}} ${bytes}`),
        ...head('svc_http_requests_in_flight', 'gauge', 'Requests that are being answered'),
        `svc_http_requests_in_flight ${inFlight}`,
        '',
      ].join('\n')
    },
  }
}

const head = (name: string, type: string, help: string) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]

function histogramLines({ labels, buckets, count, seconds }: RouteFigures): string[] {
  const name = 'svc_http_request_duration_seconds'
  let sum = 0
  const lines = BUCKETS.map((bound, place) => {
    sum += buckets[place] ?? 0
    return `${name}_bucket{le="${bound}",${labels}} ${sum}`
  })
  return [
    ...lines,
    `${name}_bucket{le="+Inf",${labels}} ${count}`,
    `${name}_sum{${labels}} ${seconds}`,
    `${name}_count{${labels}} ${count}`,
  ]
}
