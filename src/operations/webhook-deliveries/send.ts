/** Sends one delivery over HTTP: only to checked addresses, without redirects, judged by its status within the time limit. */
import { isIP } from 'node:net'
import { TimeoutError } from '../../platform/timing.ts'
import { parseUrl } from '../../platform/urls.ts'
import { VERSION } from '../../platform/version.ts'
import type { ReceiverPolicy, ReceiverRefused, Resolve } from '../webhook-subscriptions/receiver-address.ts'
import type { WebhookSender } from './webhook-exchange.ts'

export interface OutgoingWebhook extends ReceiverPolicy {
  url: string
  /** Headers of the signature. Content-type and user-agent are set here. */
  headers: Record<string, string>
  /** Body that is sent byte for byte. */
  body: string | Uint8Array
  /** Time for everything until the end of the answer's headers: name, connection, TLS and request. */
  timeoutMs: number
  /** Resolver of names. The default is the name servers, or the system when private receivers are allowed. */
  resolve?: Resolve
  /** Aborted when the process ends, which ends the attempt. */
  ending?: AbortSignal | undefined
}

export interface SendResult {
  /** HTTP status, or null without an answer. */
  status: number | null
  /** One line that explains the failure, or null for a 2xx. */
  error: string | null
  duration_ms: number
  /**
   * Returns undefined where the connection is free or closed, and otherwise a promise that resolves once it is, at most a
   * second after the headers. It never rejects.
   */
  freed?: () => Promise<void> | undefined
}

/** Never throws: every failure is the attempt's error. Any number of calls may run at once. */
export function sendWebhook(outgoing: OutgoingWebhook): Promise<SendResult> {
  const started = performance.now()
  if (transport !== undefined) return sendOver(outgoing, transport, started)
  return loadTransport().then(
    (loaded) => {
      transport = loaded
      return sendOver(outgoing, loaded, started)
    },
    (error) => unsent(outgoing, error, started),
  )
}

/** The one promise of a delivery that is sent. */
const sendOver = (outgoing: OutgoingWebhook, over: Transport, started: number): Promise<SendResult> =>
  new Promise((resolve) => {
    const failed = (error: unknown) => resolve(unsent(outgoing, error, started))
    try {
      sendTo(outgoing, over, {
        answered(status, freed) {
          const error = status >= 200 && status < 300 ? null : answerText(status)
          resolve({ status, error, duration_ms: msSince(started), freed })
        },
        failed,
      })
    } catch (error) {
      failed(error)
    }
  })

function unsent({ timeoutMs }: OutgoingWebhook, error: unknown, started: number): SendResult {
  const text = error instanceof TimeoutError ? `no answer within ${timeoutMs / 1000} s` : failureText(error)
  return { status: null, error: text, duration_ms: msSince(started) }
}

const msSince = (started: number) => Math.round(performance.now() - started)

/** They load undici and ipaddr.js. Commands that send nothing load neither. */
const loadTransport = async () => ({
  ...(await import('../webhook-subscriptions/receiver-address.ts')),
  ...(await import('./receiver-connections.ts')),
  ...(await import('./webhook-exchange.ts')),
})
type Transport = Awaited<ReturnType<typeof loadTransport>>
let transport: Transport | undefined

const USER_AGENT = `svc/${VERSION}`

const answerText = (status: number) =>
  status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`

function sendTo(outgoing: OutgoingWebhook, transport: Transport, sender: WebhookSender): void {
  const { headers, allowPrivate, resolve } = outgoing
  const receiver = receiverOf(outgoing, transport)
  if ('refusal' in receiver) throw new transport.ReceiverRefused(receiver.refusal)
  const pool = transport.receiverPool(receiver.origin, resolve ?? transport.resolverFor(allowPrivate), allowPrivate)
  const request = {
    path: receiver.path,
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': USER_AGENT },
    body: outgoing.body,
    timeoutMs: outgoing.timeoutMs,
    ending: outgoing.ending,
  }
  transport.postWebhook(pool, request, sender)
}

type CheckedUrl = { origin: string; path: string } | { refusal: string }

/** The check of a URL depends on its text and the policy alone; names are resolved and checked at every dial. */
const checkedUrls = new Map<string, ReceiverPolicy & { checked: CheckedUrl }>()
const MOST_CHECKED_URLS = 2_000

function receiverOf({ url: text, allowPrivate, ports }: OutgoingWebhook, transport: Transport): CheckedUrl {
  const known = checkedUrls.get(text)
  // The settings hand the same list of ports to every delivery until they are read anew.
  if (known !== undefined && known.allowPrivate === allowPrivate && known.ports === ports) return known.checked
  const checked = checkUrl(text, { allowPrivate, ports }, transport)
  if (checkedUrls.size >= MOST_CHECKED_URLS) checkedUrls.clear()
  checkedUrls.set(text, { allowPrivate, ports, checked })
  return checked
}

function checkUrl(text: string, policy: ReceiverPolicy, { hostOf, urlRefusal }: Transport): CheckedUrl {
  const url = parseUrl(text)
  if (url === undefined) return { refusal: 'the URL is not readable' }
  // An address in the URL is used without a lookup, so nothing else would check it.
  const refusal = urlRefusal(url, policy)
  if (refusal !== null) return { refusal }
  if (isIP(hostOf(url)) === 0) url.hostname = hostOf(url)
  return { origin: url.origin, path: url.pathname + url.search }
}

const FAILURES: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before an answer',
  EPIPE: 'the connection was closed before an answer',
  UND_ERR_SOCKET: 'the connection was closed before an answer',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the host is not reachable',
  UND_ERR_HEADERS_OVERFLOW: 'the answer has more than 16 KiB of headers',
  HPE_HEADER_OVERFLOW: 'the answer has more than 16 KiB of headers',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the TLS certificate is for another name',
  CERT_HAS_EXPIRED: 'the TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the TLS certificate is self-signed',
}
const FAILURE_KINDS: readonly [RegExp, string][] = [
  [/^(?:HPE_|HTTPParserError$)/, 'the answer is not HTTP'],
  [/CERT|SIGNATURE|CRL/, 'the TLS certificate is not accepted'],
  [/^(?:EPROTO$|ERR_SSL_|ERR_TLS_)/, 'the TLS handshake failed'],
]

/** Messages of network errors contain addresses and internals, so only the meaning of their codes is reported. */
function failureText(error: unknown): string {
  const { code: errorCode, name, message } = error as Error & { code?: unknown }
  if (name === 'ShuttingDown' || name === ('ReceiverRefused' satisfies ReceiverRefused['name'])) return message
  const code = String(errorCode ?? name)
  const known = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined
  if (known !== undefined) return known
  return FAILURE_KINDS.find(([kind]) => kind.test(code))?.[1] ?? 'the request failed'
}
