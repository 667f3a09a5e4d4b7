/** /ready and /metrics, outside /v2, for the operator of the process. */
import type { Context, Hono } from 'hono'
import { ApiError } from '../../src/platform/errors.ts'
import type { Kernel } from '../kernel.ts'
import { createGauges, type Gauges } from '../metrics/gauges.ts'
import type { Metrics } from '../metrics.ts'
import { errorResponse, jsonResponse, respond } from '../pipeline/answer.ts'
import { authenticate } from '../pipeline/bearer.ts'
import { addRateLimits, quotasOf } from '../pipeline/rate-limit.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { readiness } from '../readiness.ts'

export function probes(hono: Hono<RequestEnv>, kernel: Kernel, metrics: Metrics): void {
  const refuse = (c: Context<RequestEnv>, thrown: unknown) => {
    const { status, body } = errorResponse(kernel, thrown, c.env.requestId, new URL(c.req.url).origin)
    const { quotas, wait } = thrown instanceof ApiError ? { quotas: quotasOf(thrown), wait: thrown.retryAfter } : {}
    const headers: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) }
    if (quotas) addRateLimits(headers, quotas, true)
    return jsonResponse(kernel, c.env, status, body, headers)
  }
  const ready = readiness(kernel)
  let made: Gauges | undefined
  const gauges = () => (made ??= createGauges(metrics.registry, { ...kernel, ready: () => ready() }))
  hono.get('/ready', async (c) => {
    const { requestId: id, fault } = c.env
    c.env.route = '/ready'
    if (fault !== undefined) return refuse(c, fault)
    const data = await ready({ withoutNode: c.req.query('without') === 'node' })
    const body = JSON.stringify({ data, meta: { request_id: id } })
    return jsonResponse(kernel, c.env, data.ready ? 200 : 503, body)
  })
  hono.get('/metrics', async (c) => {
    const { requestId: id, fault } = c.env
    c.env.route = '/metrics'
    try {
      if (fault !== undefined) throw fault
      const bearer = c.req.header('authorization') ?? null
      const key = c.env.caller ?? (await authenticate(kernel, kernel.look(), bearer, c.env))
      const headers: Record<string, string> = { 'content-type': metrics.contentType, 'X-Request-Id': id }
      addRateLimits(headers, await kernel.limiter.admit(key), false)
      await gauges().refresh()
      return respond(c.env, 200, headers, await metrics.text())
    } catch (thrown) {
      return refuse(c, thrown)
    }
  })
}
