/** /ready and /metrics: for whoever operates the process; outside /v2. */
import type { Context, Hono } from 'hono'
import type { Kernel } from '../kernel.ts'
import { errorAnswer, jsonResponse } from '../middleware/answer.ts'
import { authenticate } from '../middleware/bearer.ts'
import { requestIdOf } from '../middleware/request-id.ts'

export function operations(hono: Hono, kernel: Kernel): void {
  const refuse = (c: Context, id: string, thrown: unknown) => {
    const { status, body } = errorAnswer(kernel, thrown, id, new URL(c.req.url).origin)
    return jsonResponse(status, body, { 'X-Request-Id': id })
  }
  hono.get('/ready', async (c) => {
    const { id, fault } = requestIdOf(c.req.raw)
    if (fault !== undefined) return refuse(c, id, fault)
    const database = await kernel.store.ping().then(
      () => 'ok',
      (error) => {
        kernel.log.error({ err: error }, 'database does not answer')
        return 'failing'
      },
    )
    const ready = database === 'ok'
    const body = JSON.stringify({ data: { ready, checks: { database } }, meta: { request_id: id } })
    return jsonResponse(ready ? 200 : 503, body, { 'X-Request-Id': id })
  })
  hono.get('/metrics', async (c) => {
    const { id, fault } = requestIdOf(c.req.raw)
    try {
      if (fault !== undefined) throw fault
      await authenticate(kernel, c.req.header('authorization') ?? null)
      return new Response(await kernel.metrics.text(), {
        headers: { 'content-type': kernel.metrics.contentType, 'X-Request-Id': id },
      })
    } catch (thrown) {
      return refuse(c, id, thrown)
    }
  })
}
