/** /ready and /metrics, outside /v2, for the operator of the process. */
import type { Context, Hono } from 'hono'
import { ApiError } from '../../src/errors.ts'
import type { Kernel } from '../kernel.ts'
import { errorResponse, jsonResponse } from '../pipeline/answer.ts'
import { authenticate } from '../pipeline/bearer.ts'
import { quotasOf, rateLimitHeaders } from '../pipeline/rate-limit.ts'
import { requestIdOf } from '../pipeline/request-id.ts'
import { readiness } from '../readiness.ts'

export function operations(hono: Hono, kernel: Kernel): void {
  const refuse = (c: Context, id: string, thrown: unknown) => {
    const { status, body } = errorResponse(kernel, thrown, id, new URL(c.req.url).origin)
    const { quotas, wait } = thrown instanceof ApiError ? { quotas: quotasOf(thrown), wait: thrown.retryAfter } : {}
    const headers = {
      ...(wait === undefined ? {} : { 'Retry-After': String(wait) }),
      ...(quotas ? rateLimitHeaders(quotas, true) : {}),
    }
    return jsonResponse(kernel, status, body, { ...headers, 'X-Request-Id': id })
  }
  const ready = readiness(kernel)
  hono.get('/ready', async (c) => {
    const { id, fault } = requestIdOf(c.req.raw)
    if (fault !== undefined) return refuse(c, id, fault)
    const data = await ready()
    const body = JSON.stringify({ data, meta: { request_id: id } })
    return jsonResponse(kernel, data.ready ? 200 : 503, body, { 'X-Request-Id': id })
  })
  hono.get('/metrics', async (c) => {
    const { id, fault } = requestIdOf(c.req.raw)
    try {
      if (fault !== undefined) throw fault
      const key = await authenticate(kernel, c.req.header('authorization') ?? null)
      const quotas = rateLimitHeaders(await kernel.limiter.admit(key), false)
      // Reading the state of the workers updates the metric of stalled workers.
      kernel.workers()
      return new Response(await kernel.metrics.text(), {
        headers: { 'content-type': kernel.metrics.contentType, 'X-Request-Id': id, ...quotas },
      })
    } catch (thrown) {
      return refuse(c, id, thrown)
    }
  })
}
