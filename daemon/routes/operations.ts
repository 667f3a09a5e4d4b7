/** /ready and /metrics: for whoever operates the process; outside /v2. */
import type { Hono } from 'hono'
import type { Kernel } from '../kernel.ts'
import { errorAnswer, jsonResponse } from '../middleware/answer.ts'
import { authenticate } from '../middleware/bearer.ts'
import { makeRequestId } from '../middleware/request-id.ts'

export function operations(hono: Hono, kernel: Kernel): void {
  hono.get('/ready', async () => {
    const requestId = makeRequestId()
    const database = await kernel.store.ping().then(
      () => 'ok',
      (error) => {
        kernel.log.error({ err: error }, 'database does not answer')
        return 'failing'
      },
    )
    const ready = database === 'ok'
    const body = JSON.stringify({ data: { ready, checks: { database } }, meta: { request_id: requestId } })
    return jsonResponse(ready ? 200 : 503, body, { 'X-Request-Id': requestId })
  })
  hono.get('/metrics', async (c) => {
    const requestId = makeRequestId()
    try {
      await authenticate(kernel, c.req.header('authorization') ?? null)
      return new Response(await kernel.metrics.text(), { headers: { 'content-type': kernel.metrics.contentType } })
    } catch (thrown) {
      const { status, body } = errorAnswer(kernel, thrown, requestId, new URL(c.req.url).origin)
      return jsonResponse(status, body, { 'X-Request-Id': requestId })
    }
  })
}
