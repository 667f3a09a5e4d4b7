/** Sends one delivery over HTTP: only to checked addresses, without redirects, judged by its status within the time limit. */
import { isIP, type LookupFunction } from 'node:net'
import type { Agent } from 'undici'
import { TimeoutError, withTimeout } from '../../timing.ts'
import { parseUrl } from '../../urls.ts'
import { VERSION } from '../../version.ts'
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
  duration_ms: number
  /** Resolves once the connection is free or closed, at most a second after the headers. It never rejects. */
  freed?: Promise<void>
}

/** Largest body that is read so that its connection can be reused. The connection of a larger one is destroyed. */
const ANSWER_BODY_LIMIT = 16_384
const ANSWER_BODY_TIMEOUT_MS = 1_000

/** Never throws: every failure is the attempt's error. Any number of calls may run at once. */
export async function sendWebhook({
  url: text,
  headers,
  body,
  timeoutMs,
  ending,
  ...receiver
}: OutgoingWebhook): Promise<SendResult> {
  const started = performance.now()
  const sent = (status: number | null, error: string | null) => ({
    status,
    error,
    duration_ms: Math.round(performance.now() - started),
  })
  try {
    // A request that still waits for its connection ignores the signal, but `withTimeout` does not.
    const { status, freed } = await withTimeout(timeoutMs, ending, (signal) =>
      postWebhook(text, { headers, body, signal }, receiver),
    )
    return { ...sent(status, status >= 200 && status < 300 ? null : answerText(status)), freed }
  } catch (error) {
    return sent(null, error instanceof TimeoutError ? `no answer within ${timeoutMs / 1000} s` : failureText(error))
  }
}

/** The module loads ipaddr.js. Commands that send nothing load neither that nor undici. */
const loadReceiverAddress = () => import('../webhook-subscriptions/receiver-address.ts')

const answerText = (status: number) =>
  status >= 300 && status < 400 ? `answered ${status}; redirects are not followed` : `answered ${status}`

async function postWebhook(
  text: string,
  { headers, body, signal }: { headers: Record<string, string>; body: string | Uint8Array; signal: AbortSignal },
  { allowPrivate, ports, resolve }: ReceiverPolicy & { resolve?: Resolve },
): Promise<{ status: number; freed: Promise<void> }> {
  const { hostOf, ReceiverRefused, resolverFor, urlRefusal } = await loadReceiverAddress()
  const url = parseUrl(text)
  if (url === undefined) throw new ReceiverRefused('the URL is not readable')
  // An address in the URL is used without a lookup, so it is checked here at every attempt.
  const refusal = urlRefusal(url, { allowPrivate, ports })
  if (refusal !== null) throw new ReceiverRefused(refusal)
  if (isIP(hostOf(url)) === 0) url.hostname = hostOf(url)
  const dispatcher = await agentFor(resolve ?? resolverFor(allowPrivate), allowPrivate)
  const answer = await dispatcher.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': `svc/${VERSION}` },
    body,
    signal,
  })
  // After a second the rest of a body is discarded, because it may be slow or endless.
  const rest = setTimeout(() => answer.body.destroy(), ANSWER_BODY_TIMEOUT_MS)
  rest.unref()
  answer.body.on('error', () => {})
  const freed = new Promise<void>((done) => {
    answer.body.on('close', () => {
      clearTimeout(rest)
      done()
    })
  })
  answer.body.dump({ limit: ANSWER_BODY_LIMIT }).catch(() => {})
  return { status: answer.statusCode, freed }
}

/** Open connections are separated by the checks at their opening: the policy and the resolver. */
const agents = { private: new WeakMap<Resolve, Promise<Agent>>(), public: new WeakMap<Resolve, Promise<Agent>>() }

function agentFor(resolve: Resolve, allowPrivate: boolean): Promise<Agent> {
  const known = agents[allowPrivate ? 'private' : 'public']
  let agent = known.get(resolve)
  if (agent === undefined) {
    agent = makeAgent(resolve, allowPrivate)
    known.set(resolve, agent)
  }
  return agent
}

async function makeAgent(resolve: Resolve, allowPrivate: boolean): Promise<Agent> {
  const [{ Agent }, { receiverAddresses }] = await Promise.all([import('undici'), loadReceiverAddress()])
  const lookup: LookupFunction = (name, { all }, callback) => {
    receiverAddresses(name, allowPrivate, resolve).then(
      (addresses) => {
        const dialled = addresses.map((address) => ({ address, family: isIP(address) }))
        const [first] = dialled
        if (first === undefined) callback(new Error(`${name} does not resolve`), [])
        else if (all) callback(null, dialled)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }
  return new Agent({
    // The attempt's own timeout ends it. This one ends a connection that no attempt waits for any more.
    connect: {
      lookup,
      timeout: 10_000,
      rejectUnauthorized: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: 1_000,
    },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 15_000,
    // A name that has moved is resolved and checked again after this time, however busy its connection is.
    clientTtl: 60_000,
  })
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
