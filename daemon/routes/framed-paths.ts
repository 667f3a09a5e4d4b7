/** What answers outside of the contract have in common: their request id, and its refusal where it is invalid. */
import type { Hono } from 'hono'
import type { RequestEnv, RequestRecord } from '../pipeline/request-record.ts'

/** Answers a request whose id is invalid. */
export type RefuseInvalid = (request: Request, record: RequestRecord) => Response

/** Frames the routes that are added at these paths afterwards. */
export function framePaths(hono: Hono<RequestEnv>, paths: readonly string[], refuse: RefuseInvalid): void {
  for (const path of paths) {
    hono.use(path, async (c, next) => {
      const { requestId: id, fault } = c.env
      c.env.route = path
      if (fault !== undefined) return refuse(c.req.raw, c.env)
      await next()
      // An answer for an unknown path already has the id of its error envelope.
      if (!c.res.headers.has('X-Request-Id')) c.res.headers.set('X-Request-Id', id)
    })
  }
}
