/** The requests that one call makes of a provider: bounded in time, repeated only where nothing can have been signed. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { retryAfterMs } from '../../timing.ts'
import type { SignatureOutcome } from './types.ts'

const PROVIDER_ATTEMPTS = 3
const FIRST_RETRY_WAIT_MS = 150
const LONGEST_RETRY_WAIT_MS = 2_000
/** HTTP statuses of a request that was turned away before it was worked on. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503])

export type ProviderFault =
  | { kind: 'refused' | 'unknown host' | 'certificate' | 'unreachable' | 'lost' }
  | { kind: 'status'; status: number }

/** One call of a signer and what is known of it so far. */
export interface ProviderCall {
  /** Whether a request asks for a signature. */
  signs: (url: URL, headers: Headers) => boolean
  /** Whether an error answer that usually means no signature does not here. */
  mayHaveSigned?: ((status: number, text: string) => boolean) | undefined
  /** Makes an answer what the provider's package understands. */
  adapt?: ((text: string) => string) | undefined
  fetch: typeof fetch | undefined
  wait: (milliseconds: number) => Promise<void>
  signal: AbortSignal
  signed: SignatureOutcome
  /** Why the last request brought nothing. */
  fault: ProviderFault | undefined
  /** The last good answer. */
  answer: string | undefined
}

const calls = new AsyncLocalStorage<ProviderCall>()
let installed: typeof fetch | undefined

/** Runs `work` so that each `fetch` in it, those of the provider's package too, belongs to `call`. */
export function runProviderCall<T>(call: ProviderCall, work: () => Promise<T>): Promise<T> {
  installFetch()
  return calls.run(call, work)
}

/** The call that is running, for a package that takes its requests elsewhere than to `fetch`. */
export function currentProviderCall(): ProviderCall {
  const call = calls.getStore()
  if (call === undefined) throw new Error('a signer was asked outside of a call')
  return call
}

/** Sends a request of the call that is running. Throws where no answer came; `fault` of the call says why. */
export async function sendProviderRequest(
  call: ProviderCall,
  input: string | URL,
  init: RequestInit = {},
): Promise<Response> {
  const url = new URL(input)
  const signs = call.signs(url, new Headers(init.headers))
  const before = call.signed
  // The provider's package may repeat a request on its own: what may have been signed is not sent again.
  if (signs && before === 'unknown') noAnswer()
  for (let attempt = 1; ; attempt++) {
    call.signal.throwIfAborted()
    if (signs) call.signed = 'unknown'
    const outcome = await attemptOnce(call, url, init)
    if ('response' in outcome) {
      call.fault = undefined
      call.answer = outcome.text
      return outcome.response
    }
    call.fault = outcome.fault
    if (outcome.unsigned) call.signed = before
    if (!outcome.retry || attempt === PROVIDER_ATTEMPTS) return outcome.errorResponse ?? noAnswer()
    await call.wait(outcome.waitMs ?? FIRST_RETRY_WAIT_MS * 2 ** (attempt - 1))
  }
}

/** `unsigned`: certainly nothing was signed; `waitMs`: how long the provider asks to wait. */
type FailedAttempt = { fault: ProviderFault; unsigned: boolean; retry: boolean }
type AttemptOutcome =
  | { response: Response; text: string }
  | (FailedAttempt & { errorResponse?: Response; waitMs?: number })

async function attemptOnce(call: ProviderCall, url: URL, init: RequestInit): Promise<AttemptOutcome> {
  let response: Response
  let text: string
  try {
    // A redirect would carry the token to wherever it leads.
    response = await fetchOutside(call, url, { ...init, redirect: 'manual', signal: call.signal })
    text = await response.text()
  } catch (error) {
    return connectionFault(error)
  }
  const { status } = response
  const headers = decodedHeaders(response.headers)
  if (status >= 200 && status < 300) {
    const adapted = call.adapt?.(text) ?? text
    return { response: new Response(adapted, { status: 200, headers }), text: adapted }
  }
  const unsigned = (status < 500 || BUSY_STATUSES.has(status)) && call.mayHaveSigned?.(status, text) !== true
  const waitMs = retryAfterMs(response.headers)
  return {
    fault: { kind: 'status', status },
    unsigned,
    // A provider that asks to wait for longer than a request can is not asked again by it.
    retry: unsigned && BUSY_STATUSES.has(status) && (waitMs ?? 0) <= LONGEST_RETRY_WAIT_MS,
    errorResponse: new Response(text || null, { status, headers }),
    ...(waitMs !== null && { waitMs }),
  }
}

/** Headers for a text that is decoded already, and may have changed its length. */
function decodedHeaders(headers: Headers): Headers {
  const rest = new Headers(headers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) rest.delete(name)
  return rest
}

/** Fetches outside the call, so that a `fetch` that someone else put in place is not taken for one of the packages. */
const fetchOutside = (call: ProviderCall, url: URL, init: RequestInit): Promise<Response> =>
  calls.exit(() => (call.fetch ?? globalThis.fetch)(url, init))

function noAnswer(): never {
  throw new Error('no answer')
}

/** The packages know the global `fetch` only: inside a call it is ours, anywhere else the one that was there. */
function installFetch(): void {
  const present = globalThis.fetch
  if (present === installed) return
  installed = (input, init) => {
    const call = calls.getStore()
    return call === undefined ? present(input, init) : sendProviderRequest(call, String(input), init)
  }
  globalThis.fetch = installed
}

/** Codes of a certificate that this side rejects, before any request is sent. */
const CERTIFICATE_CODES = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/
const UNKNOWN_HOST_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const UNCONNECTED_CODE = 'UND_ERR_CONNECT_TIMEOUT'

/** What `fetch` threw, by its codes alone: its messages may quote headers. */
function connectionFault(error: unknown): FailedAttempt {
  const codes = codesOf((error as { cause?: unknown }).cause)
  const every = (test: (code: string) => boolean) => codes.length > 0 && codes.every(test)
  if (every((code) => code === 'ECONNREFUSED')) return { fault: { kind: 'refused' }, unsigned: true, retry: true }
  if (every((code) => UNKNOWN_HOST_CODES.has(code))) {
    return { fault: { kind: 'unknown host' }, unsigned: true, retry: true }
  }
  if (every((code) => CERTIFICATE_CODES.test(code))) {
    return { fault: { kind: 'certificate' }, unsigned: true, retry: false }
  }
  if (every((code) => code === 'ECONNREFUSED' || code === UNCONNECTED_CODE)) {
    return { fault: { kind: 'unreachable' }, unsigned: true, retry: false }
  }
  return { fault: { kind: 'lost' }, unsigned: false, retry: false }
}

/** A host with several addresses fails once for each. */
function codesOf(cause: unknown): string[] {
  if (cause instanceof AggregateError) return cause.errors.flatMap(codesOf)
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown }
  if (syscall === 'connect' && code !== 'ECONNREFUSED') return [UNCONNECTED_CODE]
  return typeof code === 'string' ? [code] : ['']
}
