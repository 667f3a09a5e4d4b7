/** The cookie of a session, the token of its forms, and whether a request comes from a page of this service. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { type FoundSession, findOpenSession, SESSION_MS } from '../../src/operations/console-sessions.ts'
import { ApiError, forbidden } from '../../src/platform/errors.ts'
import { SECOND_MS } from '../../src/platform/timing.ts'
import { isThisMachine, parseUrl } from '../../src/platform/urls.ts'
import { callerOf, visitorAddressOf } from '../client-address.ts'
import type { Kernel } from '../kernel.ts'
import { requireAccepted } from '../pipeline/bearer.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'

type Request = Context<RequestEnv>

/** A browser sends a cookie with this prefix only over https, to the host that has set it. */
const SECURE_NAME = '__Host-svc_console'
const SECRET = /^[0-9A-Za-z]{32}$/

/** Browsers do not keep cookies of two ports apart, so on this machine the name does. */
const plainName = (host: string) => `svc_console_${/:(\d+)$/.exec(host)?.[1] ?? '80'}`

export interface BrowserSession extends FoundSession {
  csrf: string
}

/** The open session of a request; null without one. Its key is checked as for any request. */
export async function sessionOf(kernel: Kernel, c: Request): Promise<BrowserSession | null> {
  const secret = cookieOf(c)
  if (secret === undefined) return null
  const found = await findOpenSession(kernel, secret, visitorAddressOf(callerOf(c), kernel))
  if (found === null) return null
  try {
    requireAccepted(kernel, found.key, c.env)
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
  return { ...found, csrf: csrfOf(secret) }
}

function cookieOf({ req }: Request): string | undefined {
  const cookies = new Map(
    (req.header('cookie') ?? '').split(';').map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
    }),
  )
  const host = req.header('host') ?? ''
  // A sibling of a host on a network can set any cookie for it but the secure one.
  const isLocal = isThisMachine(parseUrl(`http://${host}`)?.hostname ?? '')
  const secret = cookies.get(SECURE_NAME) ?? (isLocal ? cookies.get(plainName(host)) : undefined)
  return secret !== undefined && SECRET.test(secret) ? secret : undefined
}

/** The header that stores a new session's secret. The Origin of the form says what address the browser shows. */
export function cookieFor({ req }: Request, secret: string): string {
  const origin = parseUrl(req.header('origin') ?? '')
  const isPlain = origin?.protocol === 'http:' && isThisMachine(origin.hostname)
  const name = isPlain ? plainName(req.header('host') ?? '') : SECURE_NAME
  const terms = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_MS / SECOND_MS}`
  return `${name}=${secret}; ${terms}${isPlain ? '' : '; Secure'}`
}

/** The token of a session's forms: whoever can read neither cookie nor page cannot make it. */
const csrfOf = (secret: string): string => hash('sha256', `csrf ${secret}`, 'base64url')

/** Throws forbidden unless the form has the token of this session. */
export function requireCsrf({ csrf }: BrowserSession, form: URLSearchParams): void {
  const given = Buffer.from(form.get('csrf') ?? '')
  const wanted = Buffer.from(csrf)
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return
  throw forbidden('This form is not from your session: open its page again')
}

/** Throws forbidden unless a page of this service sent the request. */
export function requireOwnOrigin({ config }: Kernel, { req }: Request): void {
  const site = req.header('sec-fetch-site')
  const origin = parseUrl(req.header('origin') ?? '')?.host
  const publicHost = parseUrl(config.values['public-url'] ?? '')?.host
  const isOwn = origin !== undefined && (origin === req.header('host') || origin === publicHost)
  if (isOwn && (site === undefined || site === 'same-origin')) return
  throw forbidden(
    'This request came from another site. Behind a proxy that changes the header Host, set public-url to the address that browsers show',
  )
}
