/** Makes a signer of a provider's package, with a timeout, verified signatures and clear error messages. */
import { pause, ShuttingDown, TimeoutError, withTimeout } from '../../platform/timing.ts'
import { signatureVerifier } from './ed25519.ts'
import { type ProviderCall, runProviderCall } from './provider-requests.ts'
import type { KeychainSigner, RemoteProvider } from './remote-provider.ts'
import { type Signer, type SignerOptions, SignerUnavailable } from './types.ts'

const SIGNER_TIMEOUT_MS = 10_000

/** Text signed to prove a key. Its first byte marks an off-chain message, so it is never the start of a transaction. */
const OWNERSHIP_PROBE = Buffer.concat([
  Buffer.from([0xff]),
  Buffer.from('solana offchain: svc asks whether this key is its own'),
])

/** Creates a signer at a provider. It makes no request before the first call. */
export function createRemoteSigner(provider: RemoteProvider, address: string, options: SignerOptions = {}): Signer {
  const isSignatureOf = signatureVerifier(address)
  let opened: KeychainSigner | undefined
  let isProven = false

  // Two calls do not share an opening in progress, because the timeout of one would end the other.
  const open = async () => {
    if (opened !== undefined) return opened
    const signer = await provider.open()
    if (signer.address !== address) throw wrongKey(provider, address)
    opened = signer
    return signer
  }

  const sign = (message: Uint8Array): Promise<Uint8Array> => {
    // The caller may change its bytes afterwards.
    const content = Uint8Array.from(message)
    return callProvider(provider, options, async (call) => {
      const [signatures] = await (await open()).signMessages([{ content, signatures: {} }])
      const signature = signatures?.[address]
      if (signature === undefined || !isSignatureOf(content, signature)) {
        const what = `answered with a signature that is not that of ${address} over this message, and it was not used`
        throw unavailable(provider, call, `${what}: is signer.public-key the address of its key?`)
      }
      isProven = true
      return Uint8Array.from(signature)
    })
  }

  const check = async (): Promise<void> => {
    try {
      await callProvider(provider, options, async (call) => {
        const isAvailable = await (await open()).isAvailable()
        if (!isAvailable && call.fault !== undefined) throw unavailable(provider, call, faultText(provider, call))
        const shown = call.answer === undefined ? undefined : provider.addressIn?.(call.answer)
        if (shown !== undefined && shown !== address) throw wrongKey(provider, address)
        if (!isAvailable) throw new SignerUnavailable(`${provider.label} cannot sign: ${provider.unusable}`, 'no')
        isProven ||= shown === address
      })
      if (!isProven) await sign(OWNERSHIP_PROBE)
    } catch (error) {
      throw failedSignerCheck(error)
    }
  }

  return { provider: provider.name, address, sign, check }
}

const wrongKey = ({ label }: RemoteProvider, address: string): SignerUnavailable =>
  new SignerUnavailable(
    `the key at ${label} is not ${address}: set signer.public-key to its address, or name the right key`,
    'no',
  )

/** Runs one call within its timeout. Throws only SignerUnavailable. */
async function callProvider<T>(
  provider: RemoteProvider,
  { timeoutMs = SIGNER_TIMEOUT_MS, fetch, wait = pause, ending }: SignerOptions,
  work: (call: ProviderCall) => Promise<T>,
): Promise<T> {
  const { signs, mayHaveSigned, adapt } = provider
  // Ends requests that a package still has open when the call ends.
  const over = new AbortController()
  let call: ProviderCall | undefined
  try {
    return await withTimeout(timeoutMs, ending, (signal) => {
      const begun: ProviderCall = {
        signs,
        mayHaveSigned,
        adapt,
        fetch,
        wait,
        signal: AbortSignal.any([signal, over.signal]),
        signed: 'no',
        fault: undefined,
        answer: undefined,
      }
      call = begun
      return runProviderCall(begun, () => work(begun))
    })
  } catch (error) {
    if (error instanceof SignerUnavailable) throw error
    throw unavailable(provider, call ?? { signed: 'no' }, callFailureText(provider, call, error, timeoutMs))
  } finally {
    over.abort()
  }
}

function callFailureText(
  provider: RemoteProvider,
  call: ProviderCall | undefined,
  error: unknown,
  timeoutMs: number,
): string {
  if (error instanceof TimeoutError) return `gave no answer within ${timeoutMs} ms`
  if (error instanceof ShuttingDown) return 'did not answer in time: the service is shutting down'
  return call === undefined ? 'was asked nothing' : faultText(provider, call)
}

// Describes a failed call of a provider in one sentence, with the place to check and without any secret.

const MAYBE_SIGNED = '; a signature may exist there'

/** `what` follows the provider's name in the message. */
const unavailable = (
  { label }: RemoteProvider,
  { signed }: Pick<ProviderCall, 'signed'>,
  what: string,
): SignerUnavailable => new SignerUnavailable(`${label} ${what}${signed === 'unknown' ? MAYBE_SIGNED : ''}`, signed)

/** The failure of a check. It cannot have signed a transaction. */
const failedSignerCheck = (error: unknown): SignerUnavailable =>
  new SignerUnavailable((error as Error).message.replace(MAYBE_SIGNED, ''), 'no')

/** Describes the last request of a call. */
function faultText(provider: RemoteProvider, { fault, signed, answer }: ProviderCall): string {
  const { where, onStatus, unusable } = provider
  switch (fault?.kind) {
    case 'refused':
      return `refuses connections: check that it runs, and check ${where}`
    case 'unknown host':
      return `has a host name that does not resolve: check ${where}`
    case 'certificate':
      return `shows a certificate that is not accepted: check ${where}, or name its CA in NODE_EXTRA_CA_CERTS`
    case 'unreachable':
      return `cannot be reached: check ${where} and the network between`
    case 'lost':
      return 'broke the connection before its answer was complete: try again'
    case 'status':
      return `answered HTTP ${fault.status}: ${statusAdvice(fault.status) ?? onStatus(fault.status)}`
  }
  if (signed === 'no') return `was not called: ${unusable}`
  const why = answer === undefined ? undefined : provider.explain?.(answer)
  return `answered with no signature that can be read${why === undefined ? '' : `: ${why}`}`
}

/** Returns advice on an HTTP status that has one meaning at every provider. */
function statusAdvice(status: number): string | undefined {
  if (status === 429) return 'it takes no more requests for now, try again later'
  if (status === 503) return 'it is not available for now, try again later'
  if (status >= 500) return 'it failed, see its own log'
  if (status < 400) return 'it redirects, and no token is sent to another address; set the final address'
  return undefined
}
