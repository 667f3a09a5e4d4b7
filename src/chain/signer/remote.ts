/** Makes a signer of a provider's package: a limit in time, every signature verified, every failure one clear sentence. */
import { pause, ShuttingDown, TimeoutError, withTimeout } from '../../timing.ts'
import { signatureVerifier } from './ed25519.ts'
import { type ProviderCall, runProviderCall } from './exchange.ts'
import { type ProviderName, type Signer, type SignerOptions, SignerUnavailable } from './types.ts'

const SIGNER_TIMEOUT_MS = 10_000

/** Never the start of a transaction (its first byte marks an off-chain message): what is signed to prove a key. */
const OWNERSHIP_PROBE = Buffer.concat([
  Buffer.from([0xff]),
  Buffer.from('solana offchain: svc asks whether this key is its own'),
])

/** The part of a `@solana/keychain-*` signer that is used: raw bytes in, 64 bytes by address out. */
export interface KeychainSigner {
  address: string
  signMessages(
    messages: readonly { content: Uint8Array; signatures: Record<string, never> }[],
  ): Promise<readonly Record<string, Uint8Array>[]>
  isAvailable(): Promise<boolean>
}

export interface RemoteProvider {
  name: ProviderName
  /** What people call it, with its host. */
  label: string
  /** Loads the package and makes its signer; asked again after a failure. */
  open: () => Promise<KeychainSigner>
  signs: ProviderCall['signs']
  mayHaveSigned?: ProviderCall['mayHaveSigned']
  adapt?: ProviderCall['adapt']
  /** The setting that says where it is. */
  where: string
  /** What to look at when it answers this HTTP status. */
  onStatus: (status: number) => string
  /** What to look at when it is there but not usable as it is. */
  unusable: string
  /** The address that its answer to a check tells; undefined: it tells none, and signs a text instead. */
  addressIn?: (answer: string) => string | undefined
  /** Why a good answer holds no signature, where it says so. */
  explain?: (answer: string) => string | undefined
}

/** A signer at a provider; nothing is asked of it before the first call. */
export function createRemoteSigner(provider: RemoteProvider, address: string, options: SignerOptions = {}): Signer {
  const { timeoutMs = SIGNER_TIMEOUT_MS, fetch, wait = pause, ending } = options
  const holds = signatureVerifier(address)
  let opened: KeychainSigner | undefined
  let proven = false

  // Not shared while under way: a call that runs out of time would take others with it.
  const open = async () => {
    if (opened !== undefined) return opened
    const signer = await provider.open()
    if (signer.address !== address) throw otherKey()
    opened = signer
    return signer
  }

  const otherKey = () =>
    new SignerUnavailable(
      `the key at ${provider.label} is not ${address}: set signer.public-key to its address, or name the right key`,
      'no',
    )

  /** Runs one call within its time. Throws SignerUnavailable and nothing else. */
  async function within<T>(work: (call: ProviderCall) => Promise<T>): Promise<T> {
    const { signs, mayHaveSigned, adapt } = provider
    // Ends what a package may still have under way once the call has come to something.
    const over = new AbortController()
    let call: ProviderCall | undefined
    try {
      return await withTimeout(timeoutMs, ending, (signal) => {
        call = {
          ...{ signs, mayHaveSigned, adapt, fetch, wait, signal: AbortSignal.any([signal, over.signal]) },
          ...{ signed: 'no', fault: undefined, answer: undefined },
        }
        return runProviderCall(call, () => work(call!))
      })
    } catch (error) {
      if (error instanceof SignerUnavailable) throw error
      const asked = call ?? { signed: 'no' }
      if (error instanceof TimeoutError) throw unavailable(provider, asked, `gave no answer within ${timeoutMs} ms`)
      if (error instanceof ShuttingDown)
        throw unavailable(provider, asked, 'was not waited for: the service is shutting down')
      throw unavailable(provider, asked, call === undefined ? 'was asked nothing' : faultText(provider, call))
    } finally {
      over.abort()
    }
  }

  const sign = (message: Uint8Array): Promise<Uint8Array> => {
    // Whoever gave the bytes may go on to change them.
    const content = Uint8Array.from(message)
    return within(async (call) => {
      const [signatures] = await (await open()).signMessages([{ content, signatures: {} }])
      const signature = signatures?.[address]
      if (signature === undefined || !holds(content, signature)) {
        const what = `answered with a signature that is not that of ${address} over this message, and it was not used`
        throw unavailable(provider, call, `${what}: is signer.public-key the address of its key?`)
      }
      proven = true
      return Uint8Array.from(signature)
    })
  }

  /** Whatever fails here, no transaction was signed. */
  async function check() {
    try {
      await within(async (call) => {
        const available = await (await open()).isAvailable()
        if (!available && call.fault !== undefined) throw unavailable(provider, call, faultText(provider, call))
        const told = call.answer === undefined ? undefined : provider.addressIn?.(call.answer)
        if (told !== undefined && told !== address) throw otherKey()
        if (!available) throw new SignerUnavailable(`${provider.label} cannot sign: ${provider.unusable}`, 'no')
        proven ||= told === address
      })
      if (!proven) await sign(OWNERSHIP_PROBE)
    } catch (error) {
      throw new SignerUnavailable((error as Error).message.replace(MAYBE_SIGNED, ''), 'no')
    }
  }

  return { provider: provider.name, address, sign, check }
}

const MAYBE_SIGNED = '; a signature may exist there'

const unavailable = ({ label }: RemoteProvider, { signed }: Pick<ProviderCall, 'signed'>, what: string) =>
  new SignerUnavailable(`${label} ${what}${signed === 'unknown' ? MAYBE_SIGNED : ''}`, signed)

function faultText(provider: RemoteProvider, { fault, signed, answer }: ProviderCall): string {
  const { where, onStatus, unusable } = provider
  switch (fault?.kind) {
    case 'refused':
      return `refuses connections: is it running there? ${where} says where it is`
    case 'unknown host':
      return `has a host name that leads nowhere: check ${where}`
    case 'certificate':
      return `shows a certificate that is not accepted: check ${where}, or name its CA in NODE_EXTRA_CA_CERTS`
    case 'unreachable':
      return `cannot be reached: check ${where} and the network between`
    case 'lost':
      return 'broke the connection before its answer was complete: try again'
    case 'status':
      return `answered HTTP ${fault.status}: ${statusAdvice(fault.status) ?? onStatus(fault.status)}`
  }
  if (signed === 'no') return `was asked nothing: ${unusable}`
  const why = answer === undefined ? undefined : provider.explain?.(answer)
  return `answered with no signature that can be read${why === undefined ? '' : `: ${why}`}`
}

function statusAdvice(status: number): string | undefined {
  if (status === 429) return 'it takes no more requests for now, try again later'
  if (status === 503) return 'it is not available for now, try again later'
  if (status >= 500) return 'it failed, see its own log'
  if (status < 400) return 'it leads elsewhere, and no token is carried there; set its final address'
  return undefined
}
