/** Sets which other origins browsers let call the API and claim pages: those in the settings, by default none. */
import type { Env, Hono } from 'hono'
import { cors } from 'hono/cors'
import type { Config } from '../src/settings/config.ts'

/** Seconds that a browser may remember an answer to its preflight request; Chromium remembers for two hours at most. */
const PREFLIGHT_AGE_S = 7_200

/** Any page may call these routes, which answer for themselves (daemon/routes/pay.ts). */
const OPEN_TO_ALL = '/v2/pay/'

/**
 * A browser never sends a bearer key by itself, so an allowed origin can only do what its own key allows. Cookies are
 * not used and not allowed.
 */
export function allowOrigins<E extends Env>(hono: Hono<E>, { values }: Config): void {
  allow(hono, '/v2/*', values['cors-origins'], {
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: ['authorization', 'content-type', 'idempotency-key', 'x-request-id'],
    exposeHeaders: ['x-request-id', 'retry-after', 'ratelimit', 'ratelimit-policy', 'idempotent-replayed'],
  })
  allow(hono, '/claim/*', values['claim-origins'], {
    allowMethods: ['GET', 'POST'],
    allowHeaders: ['content-type'],
    exposeHeaders: ['x-request-id', 'retry-after'],
  })
}

function allow<E extends Env>(
  hono: Hono<E>,
  path: string,
  origins: readonly string[] | undefined,
  options: { allowMethods: string[]; allowHeaders: string[]; exposeHeaders: string[] },
): void {
  if (origins === undefined || origins.length === 0) return
  const origin = origins.includes('*') ? '*' : [...origins]
  const allowing = cors({ ...options, origin, maxAge: PREFLIGHT_AGE_S })
  hono.use(path, (c, next) => (c.req.path.startsWith(OPEN_TO_ALL) ? next() : allowing(c, next)))
}
