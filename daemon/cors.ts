/** Tells browsers which other origins may call the API: those of the setting `cors-origins`, and none without it. */
import type { Env, Hono } from 'hono'
import { cors } from 'hono/cors'
import type { Config } from '../src/config.ts'

/** Seconds that a browser may remember an answer to its preflight request; Chromium remembers for two hours at most. */
const PREFLIGHT_AGE_S = 7_200

/**
 * A bearer key is never sent by a browser on its own, so an allowed origin gains nothing that it has no key for. Cookies
 * play no part and are not allowed.
 */
export function allowOrigins<E extends Env>(hono: Hono<E>, { values }: Config): void {
  const origins = values['cors-origins']
  if (origins === undefined || origins.length === 0) return
  const answer = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowHeaders: ['authorization', 'content-type', 'idempotency-key', 'x-request-id'],
    exposeHeaders: ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'idempotent-replayed'],
    maxAge: PREFLIGHT_AGE_S,
  })
  hono.use('/v2/*', answer)
}
