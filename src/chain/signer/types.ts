/** What a signer is, and how it says that it could not sign. */

export type ProviderName = 'keypair' | 'vault' | 'turnkey' | 'privy' | 'aws-kms'

export interface Signer {
  provider: ProviderName
  /** Base58. */
  address: string
  /** 64 bytes over exactly these message bytes, already verified against `address`; throws SignerUnavailable. */
  sign(message: Uint8Array): Promise<Uint8Array>
  /** Throws SignerUnavailable with what to do when the provider can't be reached or its key isn't this address. */
  check(): Promise<void>
}

/** `no`: certainly nothing was signed; `unknown`: a signature may exist at the provider. */
export type SignatureOutcome = 'no' | 'unknown'

/** No signature came, or one that can't be used. It has no cause: what lies below may quote tokens and keys. */
export class SignerUnavailable extends Error {
  override readonly name = 'SignerUnavailable'
  readonly signed: SignatureOutcome

  constructor(message: string, signed: SignatureOutcome) {
    super(message)
    this.signed = signed
  }
}

export interface SignerOptions {
  /** Milliseconds that one call may take in all. */
  timeoutMs?: number
  /** Carries every request to a provider; the one of Node unless given. */
  fetch?: typeof fetch
  /** Pauses between two attempts, in milliseconds. */
  wait?: (milliseconds: number) => Promise<void>
  /** Aborted when the process ends: every call is over then. */
  ending?: AbortSignal
}
