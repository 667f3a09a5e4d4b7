/** /ready and /metrics, outside /v2, for the operator of the process. */
import type { Context, Hono } from 'hono'
import { ApiError } from '../../src/platform/errors.ts'
import type { Kernel } from '../kernel.ts'
import { createGauges, type Gauges } from '../metrics/gauges.ts'
import type { Metrics } from '../metrics.ts'
import { errorResponse, jsonResponse, withBytes } from '../pipeline/answer.ts'
import { authenticate } from '../pipeline/bearer.ts'
import { addRateLimits, quotasOf } from '../pipeline/rate-limit.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { readiness } from '../readiness.ts'

export function operations(hono: Hono<RequestEnv>, kernel: Kernel, metrics: Metrics): void {
  const refuse = (c: Context<RequestEnv>, id: string, thrown: unknown) => {
    const { status, body } = errorResponse(kernel, thrown, id, new URL(c.req.url).origin)
    const { quotas, wait } = thrown instanceof ApiError ? { quotas: quotasOf(thrown), wait: thrown.retryAfter } : {}
    const headers: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) }
    if (quotas) addRateLimits(headers, quotas, true)
    return jsonResponse(kernel, status, body, { ...headers, 'X-Request-Id': id })
  }
  const ready = readiness(kernel)
  let made: Gauges | undefined
  const gauges = () => (made ??= createGauges(metrics.registry, { ...kernel, ready: () => ready() }))
  hono.get('/ready', async (c) => {
    const { requestId: id, fault } = c.env
    c.env.route = '/ready'
    if (fault !== undefined) return refuse(c, id, fault)
    const data = await ready({ withoutNode: c.req.query('without') === 'node' })
    const body = JSON.stringify({ data, meta: { request_id: id } })
    return jsonResponse(kernel, data.ready ? 200 : 503, body, { 'X-Request-Id': id })
  })
  hono.get('/metrics', async (c) => {
    const { requestId: id, fault } = c.env
    c.env.route = '/metrics'
    try {
      if (fault !== undefined) throw fault
      const key = await authenticate(kernel, c.req.header('authorization') ?? null, c.env)
      const headers: Record<string, string> = { 'content-type': metrics.contentType, 'X-Request-Id': id }
      addRateLimits(headers, await kernel.limiter.admit(key), false)
      await gauges().refresh()
      const text = await metrics.text()
      const response = new Response(text, { headers })
      return withBytes(response, Buffer.byteLength(text))
    } catch (thrown) {
      return refuse(c, id, thrown)
    }
  })
}
