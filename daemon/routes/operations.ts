/** /ready and /metrics: for whoever operates the process; outside /v2. */
import type { Context, Hono } from 'hono'
import { ApiError } from '../../src/errors.ts'
import type { Kernel } from '../kernel.ts'
import { errorAnswer, jsonResponse } from '../middleware/answer.ts'
import { authenticate } from '../middleware/bearer.ts'
import { quotasOf, rateLimitHeaders } from '../middleware/rate-limit.ts'
import { requestIdOf } from '../middleware/request-id.ts'

export function operations(hono: Hono, kernel: Kernel): void {
  const refuse = (c: Context, id: string, thrown: unknown) => {
    const { status, body } = errorAnswer(kernel, thrown, id, new URL(c.req.url).origin)
    const quotas = thrown instanceof ApiError ? quotasOf(thrown) : undefined
    return jsonResponse(kernel, status, body, { ...(quotas ? rateLimitHeaders(quotas, true) : {}), 'X-Request-Id': id })
  }
  const chain = chainState(kernel)
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
    const rpc = await chain()
    const ready = database === 'ok' && rpc === 'ok'
    const body = JSON.stringify({ data: { ready, checks: { database, rpc } }, meta: { request_id: id } })
    return jsonResponse(kernel, ready ? 200 : 503, body, { 'X-Request-Id': id })
  })
  hono.get('/metrics', async (c) => {
    const { id, fault } = requestIdOf(c.req.raw)
    try {
      if (fault !== undefined) throw fault
      const key = await authenticate(kernel, c.req.header('authorization') ?? null)
      const quotas = rateLimitHeaders(await kernel.limiter.admit(key), false)
      return new Response(await kernel.metrics.text(), {
        headers: { 'content-type': kernel.metrics.contentType, 'X-Request-Id': id, ...quotas },
      })
    } catch (thrown) {
      return refuse(c, id, thrown)
    }
  })
}

const ASK_AGAIN_MS = 1_000

/** Asks the chain at most once a second, however many ask for it. */
function chainState({ chain, log }: Kernel): () => Promise<'ok' | 'failing'> {
  let asked: { at: number; state: Promise<'ok' | 'failing'> } | undefined
  return () => {
    const now = performance.now()
    if (asked === undefined || now - asked.at >= ASK_AGAIN_MS) {
      const state = chain.ping().then(
        () => 'ok' as const,
        (error) => {
          log.error({ err: error, cluster: chain.cluster.label }, 'the chain does not answer')
          return 'failing' as const
        },
      )
      asked = { at: now, state }
    }
    return asked.state
  }
}
