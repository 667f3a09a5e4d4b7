/** The console: pages for operators below /console, for browsers with a session. It never signs. */
import { randomBytes } from 'node:crypto'
import { type Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import { createClient } from '../../src/client.ts'
import { endConsoleSession, openConsoleByKey, openConsoleByLink } from '../../src/operations/console-sessions.ts'
import { ApiError, badRequest, forbidden, GENERIC_MESSAGE, notFound, rateLimited } from '../../src/platform/errors.ts'
import { rejectLate } from '../../src/platform/timing.ts'
import { publicRoot } from '../../src/settings/config.ts'
import { callerOf, visitorAddressOf } from '../client-address.ts'
import type { Kernel } from '../kernel.ts'
import { VisitorCounter } from '../limits/visitors.ts'
import { respond } from '../pipeline/answer.ts'
import { authenticate } from '../pipeline/bearer.ts'
import { declaredLength, readRequestBody } from '../pipeline/body.ts'
import { KIB } from '../pipeline/body-room.ts'
import { makeContext, UNLINKED } from '../pipeline/context.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { actNamed, doneText, perform } from './act.tsx'
import { openAssets, type ServedAssets } from './assets.ts'
import { type BrowserSession, cookieFor, requireCsrf, requireOwnOrigin, sessionOf } from './browser-session.ts'
import { EnterPage, Fault, Layout, Siblings, SignInPage } from './layout.tsx'
import type { ConsolePage } from './page.ts'
import { PAGES } from './pages/index.ts'
import { type CommandIndex, readCommands } from './same.ts'
import { createStreams, type Streams } from './stream.ts'
import { rootFrom, transportOf, type View } from './view.ts'

type Request = Context<RequestEnv>

const FORM_CEILING = 64 * KIB
const FORM_MS = 5_000
/** Attempts to sign in. */
const ATTEMPTS = {
  minute: { perAddress: 10, inAll: 300 },
  reading: { perAddress: 3, inAll: 32 },
  running: { perAddress: 2, inAll: 8 },
}
const NAVIGATION = PAGES.filter(({ inNavigation }) => inNavigation).map(({ path, title }) => ({ path, title }))

interface Parts {
  kernel: Kernel
  app: Hono<RequestEnv>
  assets: ServedAssets
  commands: CommandIndex
  streams: Streams
  attempts: VisitorCounter
}

/** `app` is the whole app, whose routes the pages ask. */
export async function createConsole(app: Hono<RequestEnv>, kernel: Kernel): Promise<Hono<RequestEnv>> {
  const [assets, commands] = await Promise.all([openAssets(), readCommands()])
  const attempts = new VisitorCounter(kernel.clock, ATTEMPTS)
  const parts: Parts = { kernel, app, assets, commands, attempts, streams: createStreams(kernel) }
  const pages = new Hono<RequestEnv>()
  pages.use('*', (c, next) => {
    c.env.route = '/console'
    if (c.env.fault !== undefined) throw c.env.fault
    return next()
  })
  pages.get('/console/assets/:file', (c) => assets.answer(c))
  pages.get('/console/enter/:link', (c) => document(parts, c, 200, 'Console', <EnterPage link={c.req.param('link')} />))
  pages.post('/console/enter', (c) => enter(parts, c))
  pages.post('/console/sign-in', (c) => signIn(parts, c))
  pages.post('/console/sign-out', (c) => signOut(parts, c))
  pages.post('/console/acts/:act', (c) => act(parts, c, c.req.param('act')))
  pages.get('/console/stream', (c) => stream(parts, c))
  for (const page of PAGES) {
    pages.get(page.path.replace(/\{(\w+)\}/g, ':$1'), (c) => show(parts, c, page))
  }
  pages.notFound(() => {
    throw notFound('The console has no such page')
  })
  pages.onError((error, c) => refuse(parts, c, error))
  return pages
}

/** Shows a page to a browser with a session, and to others how they get one. */
async function show(parts: Parts, c: Request, page: ConsolePage): Promise<Response> {
  const { kernel } = parts
  c.env.route = page.path
  const session = await sessionOf(kernel, c)
  if (session === null) return signedOut(parts, c)
  const { table, body, title = page.title } = await page.content(viewOf(parts, c, session))
  if (c.req.query('format') === 'csv') {
    if (table === undefined) throw notFound('This page has no table')
    return respond(c.env, 200, csvHeaders(c, page), table.csv)
  }
  const done = doneText(c.req.query('done'))
  return document(
    parts,
    c,
    200,
    title,
    <>
      {done !== undefined && <p role="status">{done}</p>}
      {page.siblings !== undefined && <Siblings places={page.siblings} path={c.req.path} />}
      {body}
    </>,
    session,
    page.live,
  )
}

const csvHeaders = ({ env }: Request, { title }: ConsolePage) => ({
  'Content-Type': 'text/csv; charset=utf-8',
  'Content-Disposition': `attachment; filename="${title.toLowerCase().replaceAll(/\W+/g, '-')}.csv"`,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Request-Id': env.requestId,
})

function viewOf({ kernel, app, commands }: Parts, c: Request, session: BrowserSession): View {
  const url = new URL(c.req.url)
  c.env.keyId = session.key.id
  const send = transportOf(app, c.env, session)
  return {
    client: createClient(send),
    read: async (path) => (await send({ method: 'GET', path, headers: {} })).body,
    config: kernel.config,
    session,
    isOperator: session.role === 'operator',
    csrf: session.csrf,
    path: url.pathname,
    params: c.req.param(),
    query: withoutFlags(url.searchParams),
    api: publicRoot(kernel.config) ?? url.origin,
    commands,
    now: kernel.clock.now(),
  }
}

/** The query without what belongs to one answer alone. */
function withoutFlags(query: URLSearchParams): URLSearchParams {
  const kept = new URLSearchParams(query)
  for (const name of ['format', 'done']) kept.delete(name)
  return kept
}

/**
 * A link on another site brings no cookie with `SameSite=Strict`, so the page asks for itself once more; then it is its
 * own site. Whoever has no session then learns how to get one.
 */
function signedOut(parts: Parts, c: Request): Response | Promise<Response> {
  if (c.req.header('sec-fetch-site') === 'cross-site' && c.req.header('sec-fetch-mode') === 'navigate') {
    const again = <p>You came from another site. The page opens in a moment.</p>
    return document(parts, c, 200, 'Console', again, null, [], { Refresh: '0' })
  }
  const isOn = parts.kernel.config.values.console
  return document(parts, c, isOn ? 401 : 404, 'Console', <SignInPage canUseKey={isOn} />)
}

async function enter(parts: Parts, c: Request): Promise<Response> {
  const { kernel } = parts
  const form = await attempt(parts, c)
  const from = visitorAddressOf(callerOf(c), kernel)
  const { secret } = await openConsoleByLink(services(parts, c), form.get('link') ?? '', from)
  return redirect(c, '/console', { 'Set-Cookie': cookieFor(c, secret) })
}

/** The key is sent once, and checked like that of any request; the browser keeps only the session. */
async function signIn(parts: Parts, c: Request): Promise<Response> {
  const { kernel } = parts
  if (!kernel.config.values.console) throw notFound('API keys do not sign in here: run `svc console` for a link')
  const form = await attempt(parts, c)
  const key = await authenticate(kernel, kernel.look(), `Bearer ${form.get('key') ?? ''}`, c.env)
  await kernel.limiter.admit(key)
  const { secret } = await openConsoleByKey(services(parts, c), key, visitorAddressOf(callerOf(c), kernel))
  return redirect(c, '/console', { 'Set-Cookie': cookieFor(c, secret) })
}

async function signOut(parts: Parts, c: Request): Promise<Response> {
  const { session } = await ownForm(parts, c)
  const { kernel } = parts
  const context = makeContext(kernel, session.key, { request_id: c.env.requestId }, UNLINKED, (work) =>
    kernel.store.write(work),
  )
  await endConsoleSession(context, { id: session.id, mode: 'unsigned' })
  return redirect(c, '/console')
}

async function act(parts: Parts, c: Request, name: string): Promise<Response> {
  c.env.route = '/console/acts/{act}'
  const definition = actNamed(name)
  const { form, session } = await ownForm(parts, c)
  if (session.role !== 'operator') {
    throw forbidden('A viewer cannot act. Sign in with a key that has the scope *, or with a link for an operator')
  }
  c.env.keyId = session.key.id
  await perform(createClient(transportOf(parts.app, c.env, session)), definition, form)
  const from = new URL(form.get('from') ?? '', 'http://console')
  from.searchParams.set('done', name)
  return redirect(c, /^\/console(\/|$)/.test(from.pathname) ? `${from.pathname}${from.search}` : '/console')
}

async function stream({ kernel, streams }: Parts, c: Request): Promise<Response> {
  c.env.route = '/console/stream'
  const session = await sessionOf(kernel, c)
  if (session === null) throw forbidden('The session has ended')
  // Nobody reads or ends the stream of a HEAD.
  const isHead = c.req.method === 'HEAD'
  const body = isHead ? null : streams.open(session, async () => (await sessionOf(kernel, c)) !== null)
  const headers = {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    // nginx would otherwise hold the events back.
    'X-Accel-Buffering': 'no',
    'X-Request-Id': c.env.requestId,
  }
  return new Response(body, { headers })
}

const services = ({ kernel: { store, clock, vault } }: Parts, c: Request) => ({
  store,
  clock,
  vault,
  requestId: c.env.requestId,
})

/** The form of somebody without a session, within the limits for attempts. */
async function attempt({ kernel, attempts }: Parts, c: Request): Promise<URLSearchParams> {
  requireOwnOrigin(kernel, c)
  const address = visitorAddressOf(callerOf(c), kernel)
  const read = async () => ({ form: await readForm(c) })
  const done = await attempts.run(address, { read, run: async (body) => body })
  if ('wait' in done) throw rateLimited('Too many attempts from here: try again later', done.wait)
  return done.answer?.form ?? new URLSearchParams()
}

/** The form of a page of this session; throws forbidden for any other. */
async function ownForm({ kernel }: Parts, c: Request): Promise<{ form: URLSearchParams; session: BrowserSession }> {
  requireOwnOrigin(kernel, c)
  const session = await sessionOf(kernel, c)
  if (session === null) throw forbidden('The session has ended: open the console again')
  const form = await readForm(c)
  requireCsrf(session, form)
  return { form, session }
}

async function readForm({ req, env }: Request): Promise<URLSearchParams> {
  const contentType = req.header('content-type') ?? ''
  if (!contentType.startsWith('application/x-www-form-urlencoded')) throw badRequest('The body must be a form')
  const declared = declaredLength(req.header('content-length') ?? null, FORM_CEILING)
  const reading = { contentType, ceiling: FORM_CEILING, declared, inspect: undefined }
  const late = () => badRequest('The body was not sent in time')
  const { raw } = await rejectLate(FORM_MS, readRequestBody(env.incoming ?? req.raw, reading), late)
  return new URLSearchParams(Buffer.from(raw).toString('utf8'))
}

/** Leads to a path of the console, relative to the request's own. */
function redirect(c: Request, path: string, headers: Record<string, string> = {}): Response {
  const Location = `${rootFrom(c.req.path)}${path.slice(1)}`
  return respond(
    c.env,
    303,
    { ...headers, Location, 'Cache-Control': 'no-store', 'X-Request-Id': c.env.requestId },
    null,
  )
}

async function refuse(parts: Parts, c: Request, thrown: unknown): Promise<Response> {
  const { kernel } = parts
  const isKnown = thrown instanceof ApiError && thrown.code !== 'internal_error'
  if (!isKnown) kernel.log.error({ err: thrown, request_id: c.env.requestId }, 'a page of the console failed')
  const status = thrown instanceof ApiError ? thrown.status : 500
  const message = isKnown ? thrown.message : GENERIC_MESSAGE
  const next = isKnown ? undefined : `The log has the cause, with the request ${c.env.requestId}.`
  const session = await sessionOf(kernel, c).catch(() => null)
  const wait = isKnown && thrown.retryAfter !== undefined ? { 'Retry-After': String(thrown.retryAfter) } : {}
  return document(parts, c, status, 'It did not work', <Fault message={message} next={next} />, session, [], wait)
}

/** A whole page. Only its own style and scripts run; nothing may frame it, and its forms lead here alone. */
async function document(
  { assets }: Parts,
  c: Request,
  status: number,
  title: string,
  body: Child,
  session: BrowserSession | null = null,
  live: readonly string[] = [],
  more: Record<string, string> = {},
): Promise<Response> {
  const nonce = randomBytes(16).toString('base64url')
  const nav = session === null ? [] : NAVIGATION
  const frame = { path: c.req.path, title, assets: assets.paths, nonce, nav, session, live }
  const html = await (<Layout {...frame}>{body}</Layout>).toString()
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      'img-src data:',
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'self'",
      "frame-ancestors 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    // Forms would send no Origin with `no-referrer`.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-store',
    'X-Request-Id': c.env.requestId,
    ...more,
  }
  return respond(c.env, status, headers, `<!doctype html>${html}`)
}
