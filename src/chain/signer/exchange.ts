/** The requests that one call makes of a provider: bounded in time, repeated only where nothing can have been signed. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { retryAfterMs } from '../../timing.ts'
import type { SignatureOutcome } from './types.ts'

const PROVIDER_ATTEMPTS = 3
const FIRST_EXCHANGE_WAIT_MS = 150
const LONGEST_EXCHANGE_WAIT_MS = 2_000
/** Turned away before it was worked on. */
const BUSY_STATUSES = new Set([429, 503])

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

/** Runs `work` so that each `fetch` in it, the packages' own too, belongs to `call`. */
export function runProviderCall<T>(call: ProviderCall, work: () => Promise<T>): Promise<T> {
  install()
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
  // Whatever a package may try: what may have been signed is not sent again.
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
    if (!outcome.again || attempt === PROVIDER_ATTEMPTS) return outcome.answered ?? noAnswer()
    await call.wait(outcome.waitMs ?? FIRST_EXCHANGE_WAIT_MS * 2 ** (attempt - 1))
  }
}

type AttemptOutcome =
  | { response: Response; text: string }
  | { fault: ProviderFault; unsigned: boolean; again: boolean; answered?: Response; waitMs?: number }

async function attemptOnce(call: ProviderCall, url: URL, init: RequestInit): Promise<AttemptOutcome> {
  let answered: Response
  let text: string
  try {
    // A redirect would carry the token to wherever it leads.
    answered = await fetchOutside(call, url, { ...init, redirect: 'manual', signal: call.signal })
    text = await answered.text()
  } catch (error) {
    return { ...connectionFault(error) }
  }
  const { status, headers } = answered
  if (status >= 200 && status < 300) {
    const adapted = call.adapt?.(text) ?? text
    return { response: new Response(adapted, { status: 200, headers: decodedHeaders(headers) }), text: adapted }
  }
  const unsigned = (status < 500 || BUSY_STATUSES.has(status)) && call.mayHaveSigned?.(status, text) !== true
  const asked = retryAfterMs(headers)
  return {
    fault: { kind: 'status', status },
    unsigned,
    // Whoever asks for longer than a request can wait is not asked again by it.
    again: unsigned && BUSY_STATUSES.has(status) && (asked ?? 0) <= LONGEST_EXCHANGE_WAIT_MS,
    answered: new Response(text || null, { status, headers: decodedHeaders(headers) }),
    ...(asked !== null && { waitMs: asked }),
  }
}

/** Their text is decoded already, and may have changed its length. */
function decodedHeaders(headers: Headers): Headers {
  const kept = new Headers(headers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name)
  return kept
}

/** Outside the call, so that a `fetch` that someone else put in place is not taken for the packages' own. */
const fetchOutside = (call: ProviderCall, url: URL, init: RequestInit) =>
  calls.exit(() => (call.fetch ?? globalThis.fetch)(url, init))

function noAnswer(): never {
  throw new Error('no answer')
}

/** The packages know the global `fetch` only: inside a call it is ours, anywhere else the one that was there. */
function install() {
  const present = globalThis.fetch
  if (present === installed) return
  installed = (input, init) => {
    const call = calls.getStore()
    return call === undefined ? present(input, init) : sendProviderRequest(call, String(input), init)
  }
  globalThis.fetch = installed
}

/** Found by this side, before anything was sent. */
const CERTIFICATE = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const UNCONNECTED = 'UND_ERR_CONNECT_TIMEOUT'

/** What `fetch` threw, by its codes alone: its messages may quote headers. */
function connectionFault(error: unknown): { fault: ProviderFault; unsigned: boolean; again: boolean } {
  const codes = codesOf((error as { cause?: unknown }).cause)
  const every = (test: (code: string) => boolean) => codes.length > 0 && codes.every(test)
  if (every((code) => code === 'ECONNREFUSED')) return { fault: { kind: 'refused' }, unsigned: true, again: true }
  if (every((code) => UNKNOWN_HOST.has(code))) return { fault: { kind: 'unknown host' }, unsigned: true, again: true }
  if (every((code) => CERTIFICATE.test(code))) return { fault: { kind: 'certificate' }, unsigned: true, again: false }
  if (every((code) => code === 'ECONNREFUSED' || code === UNCONNECTED))
    return { fault: { kind: 'unreachable' }, unsigned: true, again: false }
  return { fault: { kind: 'lost' }, unsigned: false, again: false }
}

/** A host with several addresses fails once for each. */
function codesOf(cause: unknown): string[] {
  if (cause instanceof AggregateError) return cause.errors.flatMap(codesOf)
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown }
  if (syscall === 'connect' && code !== 'ECONNREFUSED') return [UNCONNECTED]
  return typeof code === 'string' ? [code] : ['']
}
