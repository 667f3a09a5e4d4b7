/** Makes one JSON-RPC call to a cluster without an SDK. Its errors show no more of the URL than its caller does. */

import { pause, retryAfterMs, whyUnanswered } from '../../platform/timing.ts'
import { urlRedactor } from '../../settings/redaction.ts'

export interface RpcCallOptions {
  fetch?: typeof fetch
  /** Waits between attempts, in milliseconds. */
  wait?: (milliseconds: number) => Promise<void>
  timeoutMs?: number
  /** Headers of the endpoint's own. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Number of attempts when a node is busy (429, 5xx). */
  attempts?: number
}

export type RpcOutcome =
  | { result: unknown }
  /** `code` is the node's own, if it refused the call. */
  | { fault: string; isRetryable: boolean; afterMs?: number | undefined; code?: unknown }

const MAX_RPC_ATTEMPTS = 5
const FIRST_RPC_WAIT_MS = 500
const LONGEST_RPC_WAIT_MS = 15_000
const RPC_TIMEOUT_MS = 60_000
/** An account has at most 10 MiB, which are 14 MiB in base64. */
const MAX_ANSWER_BYTES = 20 * 1024 * 1024

/** Returns the result, or the reason for its absence. */
export async function rpcText(
  url: string,
  method: string,
  params: readonly unknown[],
  options: RpcCallOptions = {},
): Promise<RpcOutcome> {
  const { fetch: send = fetch, wait = pause, timeoutMs = RPC_TIMEOUT_MS, attempts = MAX_RPC_ATTEMPTS } = options
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  for (let attempt = 1; ; attempt++) {
    const outcome = await askOnce(send, url, { body, timeoutMs, own: options.headers ?? {} })
    if ('result' in outcome || !outcome.isRetryable || attempt >= attempts) return outcome
    await wait(Math.min(outcome.afterMs ?? FIRST_RPC_WAIT_MS * 2 ** (attempt - 1), LONGEST_RPC_WAIT_MS))
  }
}

async function askOnce(
  send: typeof fetch,
  url: string,
  { body, timeoutMs, own }: { body: string; timeoutMs: number; own: Readonly<Record<string, string>> },
): Promise<RpcOutcome> {
  let response: Response
  let text: string | null
  try {
    const { href, authorization } = withoutUser(url)
    const headers = { 'content-type': 'application/json', ...authorization, ...own }
    const signal = AbortSignal.timeout(timeoutMs)
    // Following a redirect would take the headers to another host.
    response = await send(href, { method: 'POST', headers, body, signal, redirect: 'manual' })
    text = await boundedText(response)
  } catch (error) {
    const why = whyUnanswered(error)
    return { fault: `the RPC node cannot be reached (${why})`, isRetryable: why === 'ECONNRESET' }
  }
  if (!response.ok) {
    return {
      fault: `the RPC node answers ${response.status}`,
      isRetryable: response.status === 429 || response.status >= 500,
      afterMs: retryAfterMs(response.headers) ?? undefined,
    }
  }
  if (text === null) return { fault: 'the RPC node answers too much', isRetryable: false }
  return readAnswer(urlRedactor(url).json(text))
}

/** Reads the body; null if it is too large to be an answer. */
async function boundedText({ body }: Response): Promise<string | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body ?? []) {
    size += part.length
    if (size > MAX_ANSWER_BYTES) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function readAnswer(text: string): RpcOutcome {
  try {
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: { code?: unknown; message?: unknown } }
    if (typeof error?.message === 'string') {
      const { code } = error
      return { fault: `the RPC node refuses: ${error.message.slice(0, 200)}`, isRetryable: code === 429, code }
    }
    if (result !== undefined) return { result }
  } catch {
    // An answer that is not JSON is reported below.
  }
  return { fault: 'the RPC node answers something that is not JSON-RPC', isRetryable: false }
}

/** `fetch` refuses URLs with a user, so the user goes into the header. */
export function withoutUser(text: string): { href: string; authorization: Record<string, string> } {
  const url = new URL(text)
  if (url.username === '' && url.password === '') return { href: text, authorization: {} }
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  return { href: url.href, authorization: { authorization: `Basic ${Buffer.from(user).toString('base64')}` } }
}
