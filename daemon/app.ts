/** The HTTP surface without a listener: every route of the contract on one kernel, as a `fetch` function. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Hono } from 'hono'
import type { DaemonRole } from '../src/api/daemon-roles.ts'
import type { Services } from '../src/context.ts'
import { type ApiError, notFound } from '../src/platform/errors.ts'
import { allowOrigins } from './cors.ts'
import { directAnswers, type RequestLines } from './direct-answers.ts'
import { createKernel, type Kernel, type KernelOptions } from './kernel.ts'
import type { Metrics } from './metrics.ts'
import { type Mount, mountOn } from './mount.ts'
import { type Answer, errorResponse, jsonResponse } from './pipeline/answer.ts'
import {
  outcomeOf,
  type RequestEnv,
  type RequestRecord,
  recordAnswer,
  recordRequest,
  unparsedRecord,
} from './pipeline/request-record.ts'
import type { RefuseInvalid } from './routes/framed-paths.ts'
import { mountRoutes, workerRoutes } from './routes/index.ts'

export interface App {
  fetch(request: Request): Promise<Response>
  /** Answers an ordinary read of a route at once; undefined where `fetch` must answer it. */
  read(request: RequestLines): Answer | Promise<Answer> | undefined
  /** Answers a request on its connection where it is an ordinary one to a route; false where `fetch` must answer it. */
  answerDirectly(incoming: IncomingMessage, outgoing: ServerResponse): boolean
  /** Answers input that the HTTP parser could not turn into a request. */
  refuse(error: ApiError): Response
  /** Writes buffered counts of rate limits and refusals; the store remains open. */
  close(): Promise<void>
}

export interface AppOptions {
  metrics?: Metrics | undefined
  access?: KernelOptions['access']
}

/** Builds the app on services that are already open; it opens no listener and starts no worker. */
export async function createApp(services: Services, { metrics, access }: AppOptions = {}): Promise<App> {
  const [{ entrance }, { documentation }, { assets }, { operations }] = await Promise.all([
    import('./routes/entrance.ts'),
    import('./routes/documentation.ts'),
    import('./routes/assets.ts'),
    import('./routes/probes.ts'),
  ])
  const measured = metrics ?? (await import('./metrics.ts')).createMetrics()
  const kernel = await createKernel(services, { metrics: measured, access })
  let writeRefusals = async () => {}
  const app = await createAppOn(kernel, async (mount, hono) => {
    if (services.role === 'worker') {
      await workerRoutes(mount)
    } else {
      await mountRoutes(mount)
      const refuse: RefuseInvalid = (request, record) => refuseRoute(kernel, request, record, record.fault)
      entrance(hono, kernel, refuse)
      documentation(hono, refuse)
      assets(hono, kernel)
      if (kernel.config.values['claim-pages']) {
        const { claimSponsorship } = await import('./routes/claim-sponsorship.ts')
        writeRefusals = claimSponsorship(hono, kernel)
        const { claimPages } = await import('./routes/claim-pages.ts')
        claimPages(hono, kernel)
      }
    }
    operations(hono, kernel, measured)
  })
  return { ...app, close: () => Promise.all([writeRefusals(), app.close()]).then(() => {}) }
}

type MountAll = (mount: Mount, hono: Hono<RequestEnv>) => Promise<void>

/** The app of a kernel with the routes that `mountAll` mounts, and the answers to every other request. */
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
  const direct = directAnswers({ router: hono.router, mountedAs: mount.mountedAs, kernel, recording })
  return {
    read: direct.read,
    fetch: (request) => recordRequest(recording, request, (record) => hono.fetch(request, record)),
    answerDirectly: direct.onConnection,
    refuse(error) {
      const record = unparsedRecord()
      const response = refuseRoute(kernel, new Request(NOWHERE), record, error)
      recordAnswer(recording, record, outcomeOf(response), 0)
      return response
    },
    close: () => kernel.limiter.close(),
  }
}

/** The base URL of input that was never parsed as a request and therefore has none. */
const NOWHERE = 'http://localhost'

function refuseRoute(
  kernel: Kernel,
  request: Request,
  { requestId, fault }: RequestRecord,
  thrown: unknown,
  headers: Record<string, string> = {},
): Response {
  const { status, body } = errorResponse(kernel, fault ?? thrown, requestId, new URL(request.url).origin)
  return jsonResponse(kernel, status, body, { ...headers, 'X-Request-Id': requestId })
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
