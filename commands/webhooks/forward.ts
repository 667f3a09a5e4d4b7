/** Sends one event to a URL in the form of a webhook delivery, with a few retries. */
import type { Event } from '../../src/api/events.ts'
import { parseUrl } from '../../src/platform/urls.ts'
import type { SessionClock } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import { signedHeaders } from './signature.ts'

const FORWARD_TIMEOUT_MS = 10_000
/** Milliseconds before each further attempt. */
const FORWARD_RETRY_MS = [500, 1_000, 2_000]

export interface Forwarded {
  delivered: boolean
  attempts: number
  /** The HTTP status of the last attempt; null if there was no answer. */
  status: number | null
  error: string | null
  duration_ms: number
}

export interface ForwardTarget {
  url: URL
  secrets: readonly string[]
}

/** Parses an http or https URL without credentials; local addresses are allowed, because forwarding is for them. */
export function targetUrl(text: string): URL {
  const url = parseUrl(text)
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usage(`--forward-to must be an http or https URL, not "${text}"`, { param: '--forward-to' })
  }
  if (url.username !== '' || url.password !== '')
    throw usage('--forward-to must hold no user or password', { param: '--forward-to' })
  return url
}

/** Resolves after a 2xx answer or the last attempt; `onRetry` is called after every failed attempt before that. */
export async function forward(
  { url, secrets }: ForwardTarget,
  event: Event,
  clock: SessionClock,
  onRetry: (failed: string, pauseMs: number) => void,
): Promise<Forwarded> {
  const body = JSON.stringify(event)
  for (let attempts = 1; ; attempts++) {
    const start = clock.now()
    const headers = signedHeaders(event.id, body, secrets, start)
    const { status, error } = await postDelivery(url, headers, body)
    const delivered = status !== null && status >= 200 && status < 300
    const pause = FORWARD_RETRY_MS[attempts - 1]
    if (delivered || pause === undefined) {
      return { delivered, attempts, status, error, duration_ms: clock.now() - start }
    }
    onRetry(error ?? `HTTP ${status}`, pause)
    await clock.sleep(pause)
  }
}

/** Resolves with the status as soon as the headers arrive; redirects are not followed. */
async function postDelivery(
  url: URL,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number | null; error: string | null }> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve) => {
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'svc-webhooks',
      },
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
    })
    sent.on('response', (answer) => {
      resolve({ status: answer.statusCode ?? null, error: null })
      answer.on('error', () => undefined)
      answer.destroy()
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ status: null, error: deliveryFault(error) }))
    sent.end(body)
  })
}

const DELIVERY_FAULTS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  ENOTFOUND: 'there is no such host',
  ABORT_ERR: `no answer in ${FORWARD_TIMEOUT_MS / 1000} seconds`,
}
const deliveryFault = ({ code, message }: NodeJS.ErrnoException) => DELIVERY_FAULTS[code ?? ''] ?? message
