/** The HTTP surface without a listener: every route of the contract on one kernel, as a `fetch` function. */
import { Hono } from 'hono'
import type { Services } from '../src/context.ts'
import { type ApiError, notFound } from '../src/errors.ts'
import { allowOrigins } from './cors.ts'
import { createKernel, type Kernel } from './kernel.ts'
import type { Metrics } from './metrics.ts'
import { type Mount, mountOn } from './mount.ts'
import { errorResponse, jsonResponse } from './pipeline/answer.ts'
import { requestIdOf } from './pipeline/request-id.ts'
import { assets } from './routes/assets.ts'
import { documentation } from './routes/documentation.ts'
import { mountRoutes } from './routes/index.ts'
import { operations } from './routes/probes.ts'

export interface App {
  fetch(request: Request): Promise<Response>
  /** Answers input that the HTTP parser could not turn into a request. */
  refuse(error: ApiError): Response
  /** Writes buffered rate limit counts; the store remains open. */
  close(): Promise<void>
}

/** Builds the app on services that are already open; it opens no listener and starts no worker. */
export async function createApp(services: Services, { metrics }: { metrics?: Metrics } = {}): Promise<App> {
  const kernel = await createKernel(services, metrics)
  const hono = new Hono()
  allowOrigins(hono, services.config)
  const mount: Mount = mountOn(hono, kernel)
  mountRoutes(mount)
  documentation(hono, (request, fault) => refuseRoute(kernel, request, fault))
  operations(hono, kernel)
  assets(hono, kernel)
  hono.all('/v1', (c) => firstVersion(kernel, c.req.raw))
  hono.all('/v1/*', (c) => firstVersion(kernel, c.req.raw))
  hono.notFound((c) => refuseRoute(kernel, c.req.raw, unknownRoute(c.req.raw, mount.methodsOf)))
  hono.onError((error, c) => refuseRoute(kernel, c.req.raw, error))
  return {
    fetch: async (request) => hono.fetch(request),
    refuse: (error) => refuseRoute(kernel, new Request(NOWHERE), error),
    close: () => kernel.limiter.close(),
  }
}

/** The base URL of input that was never parsed as a request and therefore has none. */
const NOWHERE = 'http://localhost'

function refuseRoute(
  kernel: Kernel,
  request: Request,
  thrown: unknown,
  headers: Record<string, string> = {},
): Response {
  const named = requestIdOf(request)
  const { status, body } = errorResponse(kernel, named.fault ?? thrown, named.id, new URL(request.url).origin)
  return jsonResponse(kernel, status, body, { ...headers, 'X-Request-Id': named.id })
}

function unknownRoute(request: Request, methodsOf: (path: string) => string[]): ApiError {
  const { pathname } = new URL(request.url)
  const methods = methodsOf(pathname)
  return notFound(
    methods.length > 0
      ? `${request.method} is not a method of ${pathname}; it takes ${methods.join(', ')}`
      : `There is no ${pathname}; /v2/docs lists every path`,
  )
}

/** The date on which /v2 replaced /v1, 2026-01-01, in Unix seconds. */
const DEPRECATED_SINCE = 1767225600

function firstVersion(kernel: Kernel, request: Request): Response {
  const { pathname } = new URL(request.url)
  const successor = pathname.replace(/^\/v1/, '/v2')
  return refuseRoute(kernel, request, notFound(`Version 1 is no longer served; use ${successor}`), {
    Deprecation: `@${DEPRECATED_SINCE}`,
    Link: '</v2>; rel="successor-version"',
  })
}
