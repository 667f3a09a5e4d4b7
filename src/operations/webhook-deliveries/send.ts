/** Sends one delivery over HTTP: only to checked addresses and without redirects. The status within the time limit decides. */
import { isIP } from 'node:net'
import { once, TimeoutError } from '../../platform/timing.ts'
import { parseUrl } from '../../platform/urls.ts'
import { VERSION } from '../../platform/version.ts'
import type { ReceiverPolicy, ReceiverRefused, Resolve } from '../webhook-subscriptions/receiver-address.ts'

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
  /** Time until the end of the answer's headers, or until the failure. */
  duration_ms: number
  /** The first bytes of the answer's body. */
  answer?: Uint8Array
}

/**
 * Resolves once the connection is free or closed, so that endless bodies cannot open one connection after another.
 * Never throws: every failure becomes the attempt's error. Any number of calls may run in parallel.
 */
export async function sendWebhook(outgoing: OutgoingWebhook): Promise<SendResult> {
  const started = performance.now()
  const result = (status: number | null, error: string | null): SendResult => ({
    status,
    error,
    duration_ms: Math.round(performance.now() - started),
  })
  let answered: SendResult | undefined
  try {
    const answer = await post(outgoing, await transport(), (status) => {
      answered = result(status, status >= 200 && status < 300 ? null : answerText(status))
    })
    if (answered !== undefined && answer.byteLength > 0) return { ...answered, answer }
  } catch (error) {
    const isLate = error instanceof TimeoutError
    return result(null, isLate ? `no answer within ${outgoing.timeoutMs / 1000} s` : failureText(error))
  }
  return answered ?? result(null, 'the request failed')
}

/** These modules load undici and ipaddr.js, so they are imported only when something is sent. */
const transport = once(async () => ({
  ...(await import('../webhook-subscriptions/receiver-address.ts')),
  ...(await import('./receiver-connections.ts')),
  ...(await import('./webhook-request.ts')),
}))
type Transport = Awaited<ReturnType<typeof transport>>

const USER_AGENT = `svc/${VERSION}`

const answerText = (status: number) =>
  status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`

async function post(
  { url: text, body, timeoutMs, ending, allowPrivate, ports, ...outgoing }: OutgoingWebhook,
  { connectionsOf, hostOf, postWebhook, ReceiverRefused, resolverFor, urlRefusal }: Transport,
  answered: (status: number) => void,
): Promise<Uint8Array> {
  const url = parseUrl(text)
  if (url === undefined) throw new ReceiverRefused('the URL cannot be parsed')
  // An address in the URL is used without a lookup, so nothing else would check it.
  const refusal = urlRefusal(url, { allowPrivate, ports })
  if (refusal !== null) throw new ReceiverRefused(refusal)
  if (isIP(hostOf(url)) === 0) url.hostname = hostOf(url)
  const connections = connectionsOf({ resolve: outgoing.resolve ?? resolverFor(allowPrivate), allowPrivate }, ending)
  const headers = { ...outgoing.headers, 'content-type': 'application/json', 'user-agent': USER_AGENT }
  const { origin, pathname, search } = url
  return postWebhook(connections, { origin, path: pathname + search, headers, body, timeoutMs }, answered)
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

/** Messages of network errors contain addresses and internals, so only a description of their codes is reported. */
function failureText(error: unknown): string {
  const { code: errorCode, name, message } = error as Error & { code?: unknown }
  if (name === 'ShuttingDown' || name === ('ReceiverRefused' satisfies ReceiverRefused['name'])) return message
  const code = String(errorCode ?? name)
  const known = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined
  if (known !== undefined) return known
  return FAILURE_KINDS.find(([kind]) => kind.test(code))?.[1] ?? 'the request failed'
}
