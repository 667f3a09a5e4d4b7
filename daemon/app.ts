/** The HTTP app without a listener: every route of the contract on one kernel, as a `fetch` function. */
import type { IncomingMessage } from 'node:http'
import { type Env, Hono } from 'hono'
import { cors } from 'hono/cors'
import type { DaemonRole } from '../src/api/daemon-roles.ts'
import type { Services } from '../src/context.ts'
import { type ApiError, notFound } from '../src/platform/errors.ts'
import { once } from '../src/platform/timing.ts'
import type { Config } from '../src/settings/config.ts'
import { createKernel } from './create-kernel.ts'
import type { Kernel, KernelOptions } from './kernel.ts'
import type { Metrics } from './metrics.ts'
import { type Mount, mountOn } from './mount.ts'
import { errorResponse, jsonResponse } from './pipeline/answer.ts'
import {
  type RequestEnv,
  type RequestRecord,
  recordAnswer,
  recordRequest,
  unparsedRecord,
} from './pipeline/request-record.ts'
import { mountRoutes, workerRoutes } from './routes/index.ts'

export interface App {
  /** Answers a request; `incoming` is Node's message if it came over a connection. */
  fetch(request: Request, incoming?: IncomingMessage): Promise<Response>
  /** Answers input that the HTTP parser could not turn into a request. */
  refuse(error: ApiError): Response
  /** Writes buffered counts of rate limits and refusals; the store remains open. */
  close(): Promise<void>
}

interface AppOptions {
  metrics?: Metrics | undefined
  access?: KernelOptions['access']
  localRpc?: KernelOptions['localRpc']
}

/** Builds the app on open services; it opens no listener and starts no worker. */
export async function createApp(services: Services, { metrics, access, localRpc }: AppOptions = {}): Promise<App> {
  const [{ entrance }, { documentation }, { assets }, { pay }, { probes }] = await Promise.all([
    import('./routes/entrance.ts'),
    import('./routes/documentation.ts'),
    import('./routes/assets.ts'),
    import('./routes/pay.ts'),
    import('./routes/probes.ts'),
  ])
  const measured = metrics ?? (await import('./metrics.ts')).createMetrics()
  const kernel = await createKernel(services, { metrics: measured, access, localRpc })
  let writeRefusals = async () => {}
  const app = await createAppOn(kernel, async (mount, hono) => {
    if (services.role === 'worker') {
      await workerRoutes(mount)
    } else {
      await mountRoutes(mount)
      entrance(hono, kernel)
      documentation(hono, kernel)
      assets(hono, kernel)
      const { approvalPage } = await import('./routes/approval-page.ts')
      approvalPage(hono, kernel)
      pay(hono, kernel)
      const { raiseProofs } = await import('./routes/raise-proofs.ts')
      raiseProofs(hono, kernel)
      // Loaded at its first request, because few daemons have a console open.
      const pages = once(async () => (await import('./console/console.tsx')).createConsole(hono, kernel))
      hono.all('/console/*', async (c) => (await pages()).fetch(c.req.raw, c.env))
      if (kernel.config.values['claim-pages']) {
        const { claimSponsorship } = await import('./routes/claim-sponsorship.ts')
        writeRefusals = claimSponsorship(hono, kernel)
        const { claimPages } = await import('./routes/claim-pages.ts')
        claimPages(hono, kernel)
        const { raisePages } = await import('./routes/raise-pages.ts')
        raisePages(hono, kernel)
      }
    }
    probes(hono, kernel, measured)
  })
  return { ...app, close: () => Promise.all([writeRefusals(), app.close()]).then(() => {}) }
}

type MountAll = (mount: Mount, hono: Hono<RequestEnv>) => Promise<void>

/** The app of a kernel: the routes that `mountAll` mounts, and the answers to all other requests. */
export async function createAppOn(kernel: Kernel, mountAll: MountAll): Promise<App> {
  const hono = new Hono<RequestEnv>()
  allowOrigins(hono, kernel.config)
  const mount: Mount = mountOn(hono, kernel)
  await mountAll(mount, hono)
  hono.all('/v1', (c) => firstVersion(kernel, c.req.raw, c.env))
  hono.all('/v1/*', (c) => firstVersion(kernel, c.req.raw, c.env))
  hono.notFound((c) => {
    const fault = unknownRoute(c.req.raw, mount.methodsOf, kernel.role)
    return refuseRoute(kernel, c.req.raw, c.env, fault)
  })
  hono.onError((error, c) => refuseRoute(kernel, c.req.raw, c.env, error))
  const recording = { metrics: kernel.metrics.http, access: kernel.access }
  return {
    fetch: (request, incoming) => recordRequest(recording, request, incoming, (record) => hono.fetch(request, record)),
    refuse(error) {
      const record = unparsedRecord()
      const response = refuseRoute(kernel, new Request(NOWHERE), record, error)
      recordAnswer(recording, record, response.status, 0)
      return response
    },
    close: () => Promise.all([kernel.limiter.close(), kernel.uses.close()]).then(() => {}),
  }
}

/** The base URL for input that could not be parsed as a request. */
const NOWHERE = 'http://localhost'

function refuseRoute(
  kernel: Kernel,
  request: Request,
  record: RequestRecord,
  thrown: unknown,
  headers: Record<string, string> = {},
): Response {
  const { status, body } = errorResponse(kernel, record.fault ?? thrown, record.requestId, new URL(request.url).origin)
  return jsonResponse(kernel, record, status, body, headers)
}

function unknownRoute(request: Request, methodsOf: (path: string) => string[], role: DaemonRole | null): ApiError {
  const { pathname } = new URL(request.url)
  if (role === 'worker') {
    const served = '/v2/health, /v2/health/workers, /ready and /metrics'
    return notFound(`This daemon has the role worker and serves only ${served}; send requests to one with the role api`)
  }
  const methods = methodsOf(pathname)
  return notFound(
    methods.length > 0
      ? `${request.method} is not a method of ${pathname}; it takes ${methods.join(', ')}`
      : `There is no ${pathname}; /v2/docs lists every path`,
  )
}

/** The date on which /v2 replaced /v1, 2026-01-01, in Unix seconds. */
const DEPRECATED_SINCE = 1767225600

function firstVersion(kernel: Kernel, request: Request, record: RequestRecord): Response {
  record.route = '/v1'
  const { pathname } = new URL(request.url)
  const successor = pathname.replace(/^\/v1/, '/v2')
  return refuseRoute(kernel, request, record, notFound(`Version 1 is no longer served; use ${successor}`), {
    Deprecation: `@${DEPRECATED_SINCE}`,
    Link: '</v2>; rel="successor-version"',
  })
}

/** Seconds that a browser may remember an answer to its preflight request; Chromium remembers for two hours at most. */
const PREFLIGHT_AGE_S = 7_200

/** Any page may call these routes, which answer for themselves (daemon/routes/pay.ts). */
const OPEN_TO_ALL = '/v2/pay/'

/**
 * A browser never sends a bearer key by itself, so an allowed origin can only do what its own key allows. Cookies are
 * not used and not allowed.
 */
function allowOrigins<E extends Env>(hono: Hono<E>, { values }: Config): void {
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
