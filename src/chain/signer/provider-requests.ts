/** Makes the requests of one provider call: limited in time, and repeated only when nothing can have been signed. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { observeCall, outcomeOfStatus } from '../../platform/telemetry/calls.ts'
import { retryAfterMs } from '../../platform/timing.ts'
import type { SignatureOutcome } from './types.ts'

const PROVIDER_ATTEMPTS = 3
const FIRST_RETRY_WAIT_MS = 150
const LONGEST_RETRY_WAIT_MS = 2_000
/** HTTP statuses of a request that was rejected before it was processed. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503])

type ProviderFault =
  | { kind: 'refused' | 'unknown host' | 'certificate' | 'unreachable' | 'lost' }
  | { kind: 'status'; status: number }

/** The state of one call of a signer. */
export interface ProviderCall {
  /** Whether a request asks for a signature. */
  signs: (url: URL, headers: Headers) => boolean
  /** Whether a signature may exist despite an error status that usually excludes it. */
  mayHaveSigned?: ((status: number, text: string) => boolean) | undefined
  /** Converts an answer to the form that the provider's package parses. */
  adapt?: ((text: string) => string) | undefined
  fetch: typeof fetch | undefined
  wait: (milliseconds: number) => Promise<void>
  signal: AbortSignal
  signed: SignatureOutcome
  /** The failure of the last request, if any. */
  fault: ProviderFault | undefined
  /** Text of the last successful answer. */
  answer: string | undefined
}

const calls = new AsyncLocalStorage<ProviderCall>()
let installed: typeof fetch | undefined

/** Runs `work` so that each `fetch` in it, including those of the provider's package, belongs to `call`. */
export function runProviderCall<T>(call: ProviderCall, work: () => Promise<T>): Promise<T> {
  installFetch()
  return calls.run(call, work)
}

/** Returns the current call, for a package that does not send its requests with `fetch`. */
export function currentProviderCall(): ProviderCall {
  const call = calls.getStore()
  if (call === undefined) throw new Error('a signer was asked outside of a call')
  return call
}

/** Sends a request of the current call. Throws when no answer came; the call's `fault` has the reason. */
export async function sendProviderRequest(
  call: ProviderCall,
  input: string | URL,
  init: RequestInit = {},
): Promise<Response> {
  const url = new URL(input)
  const signs = call.signs(url, new Headers(init.headers))
  const before = call.signed
  // The provider's package may repeat a request by itself, but what may have been signed must not be sent again.
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

/** `unsigned` means that certainly nothing was signed. `waitMs` is the wait that the provider requests. */
type FailedAttempt = { fault: ProviderFault; unsigned: boolean; retry: boolean }
type AttemptOutcome =
  | { response: Response; text: string }
  | (FailedAttempt & { errorResponse?: Response; waitMs?: number })

async function attemptOnce(call: ProviderCall, url: URL, init: RequestInit): Promise<AttemptOutcome> {
  let response: Response
  let text: string
  try {
    const answer = await observeCall(
      {
        service: 'signer',
        endpoint: url.host,
        operation: call.signs(url, new Headers(init.headers)) ? 'sign' : 'read',
      },
      async ({ traceparent }) => {
        const headers = new Headers(init.headers)
        headers.set('traceparent', traceparent)
        // A redirect would send the token to its target.
        const received = await fetchOutside(call, url, { ...init, headers, redirect: 'manual', signal: call.signal })
        return { received, body: await received.text() }
      },
      ({ received }) => outcomeOfStatus(received.status),
    )
    response = answer.received
    text = answer.body
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
    // A request is not repeated when the provider asks for a longer wait than the request has.
    retry: unsigned && BUSY_STATUSES.has(status) && (waitMs ?? 0) <= LONGEST_RETRY_WAIT_MS,
    errorResponse: new Response(text || null, { status, headers }),
    ...(waitMs !== null && { waitMs }),
  }
}

/** Adapts headers for a text that is already decoded and may have another length. */
function decodedHeaders(headers: Headers): Headers {
  const rest = new Headers(headers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) rest.delete(name)
  return rest
}

/**
 * Fetches outside the call context, so that another replacement of `fetch` is not treated as a request of the package.
 */
const fetchOutside = (call: ProviderCall, url: URL, init: RequestInit): Promise<Response> =>
  calls.exit(() => (call.fetch ?? globalThis.fetch)(url, init))

function noAnswer(): never {
  throw new Error('no answer')
}

/** The packages only use the global `fetch`. Inside a call it is this module's, and elsewhere the previous one. */
function installFetch(): void {
  const present = globalThis.fetch
  if (present === installed) return
  installed = (input, init) => {
    const call = calls.getStore()
    return call === undefined ? present(input, init) : sendProviderRequest(call, String(input), init)
  }
  globalThis.fetch = installed
}

/** Codes of a certificate that the client rejects before it sends any request. */
const CERTIFICATE_CODES = /^(?:ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/
const UNKNOWN_HOST_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN'])
const UNCONNECTED_CODE = 'UND_ERR_CONNECT_TIMEOUT'

/** Describes an error of `fetch` only by its codes, because its messages may quote headers. */
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

/** A host with several addresses has one failure for each. */
function codesOf(cause: unknown): string[] {
  if (cause instanceof AggregateError) return cause.errors.flatMap(codesOf)
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown }
  if (syscall === 'connect' && code !== 'ECONNREFUSED') return [UNCONNECTED_CODE]
  return typeof code === 'string' ? [code] : ['']
}
