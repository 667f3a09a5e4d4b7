/**
 * Sends the client's requests with `node:http`, because loading the global fetch takes longer than a command's
 * request.
 */
import type { Agent, RequestOptions } from 'node:http'
import type { ClientRequest, ClientResponse, Transport } from '../../src/client.ts'
import { parseUrl } from '../../src/platform/urls.ts'
import { failure, usage } from '../ui/problem.ts'

/** Milliseconds without traffic after which a request fails that is not wholly sent. */
const HTTP_TIMEOUT_MS = 60_000
/** Milliseconds without traffic until the answer. The API waits 60 s for each transaction before the last one. */
const ANSWER_TIMEOUT_MS = 300_000
const MAX_ANSWER_BYTES = 256 * 1024 * 1024

export interface HttpTransport {
  send: Transport
  /** The same connections with this key and the usual timeout; either `close` closes them. */
  withKey(bearer: string): HttpTransport
  close(): void
}

/** Opens a transport to `base` (http or https, with an optional path). Failures say what to do. */
export async function openHttp(
  base: string,
  bearer: string | undefined,
  timeoutMs = HTTP_TIMEOUT_MS,
): Promise<HttpTransport> {
  const url = parseBase(base)
  const { request, Agent } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const agent = new Agent({ keepAlive: true })
  const over = (key: string | undefined, timeout: number): HttpTransport => ({
    send: ({ method, path, headers, body }) => {
      const options = { method, headers: withBearer(headers, key), agent, timeout }
      return exchangeOverHttp(request, new URL(url.pathname.replace(/\/$/, '') + path, url), options, body)
    },
    withKey: (own) => over(own, HTTP_TIMEOUT_MS),
    close: () => agent.destroy(),
  })
  return over(bearer, timeoutMs)
}

function parseBase(base: string): URL {
  const url = parseUrl(base)
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usage(`--api must be an http or https URL, not "${base.replace(/\/\/.*@/, '//…@')}"`, { param: '--api' })
  if (url.username !== '' || url.password !== '')
    throw usage('--api must not contain a user or password; the key comes from --api-key-file')
  return url
}

function withBearer(headers: Record<string, string>, bearer: string | undefined): Record<string, string> {
  return bearer === undefined ? headers : { ...headers, authorization: `Bearer ${bearer}` }
}

type HttpSend = typeof import('node:http').request

function exchangeOverHttp(
  request: HttpSend,
  url: URL,
  options: RequestOptions & { agent: Agent; timeout: number },
  body: ClientRequest['body'],
): Promise<ClientResponse> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(unreachable(url.origin, error))
    const sent = request(url, { ...options, headers: { ...options.headers, ...length } }, (answer) => {
      const chunks: Buffer[] = []
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES) answer.destroy(new Error('its answer has more than 256 MiB'))
      })
      answer.on('error', fail)
      answer.on('end', () => {
        const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
        resolve({ status: answer.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString('utf8') })
      })
    })
    sent.on('finish', () => sent.setTimeout(Math.max(options.timeout, ANSWER_TIMEOUT_MS)))
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })))
    sent.on('error', fail)
    sent.end(body)
  })
}

const CAUSES: Record<string, [string, string]> = {
  ECONNREFUSED: ['nothing listens there', 'start it with `svc serve`, or check --api'],
  ENOTFOUND: ['there is no such host', 'check --api'],
  EAI_AGAIN: ['its name cannot be resolved', 'check --api and the network'],
  ETIMEDOUT: ['there is no answer', 'check the daemon with `svc doctor`; a write may or may not have happened'],
  ECONNRESET: ['it closed the connection', 'repeat the command; a write may or may not have happened'],
  EPROTO: ['it does not speak TLS', 'use http:// in --api'],
}

function unreachable(origin: string, error: NodeJS.ErrnoException) {
  const [what, next] = CAUSES[error.code ?? ''] ?? [error.message, 'check --api']
  return failure(`${origin} cannot be reached: ${what}`, { next, cause: error })
}
