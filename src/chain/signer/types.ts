/** What a signer is, and the error of one that could not sign. */

export type ProviderName = 'keypair' | 'vault' | 'turnkey' | 'privy' | 'aws-kms'

export interface Signer {
  provider: ProviderName
  /** Base58. */
  address: string
  /** 64 bytes over exactly these message bytes, verified against `address`. Throws SignerUnavailable. */
  sign(message: Uint8Array): Promise<Uint8Array>
  /** Throws SignerUnavailable, with what to do, where the provider cannot be reached or its key is not this address. */
  check(): Promise<void>
}

/** `no`: certainly nothing was signed; `unknown`: a signature may exist at the provider. */
export type SignatureOutcome = 'no' | 'unknown'

/** No signature came, or none that can be used. It has no cause, as the error below may quote tokens and keys. */
export class SignerUnavailable extends Error {
  override readonly name = 'SignerUnavailable'
  readonly signed: SignatureOutcome

  constructor(message: string, signed: SignatureOutcome) {
    super(message)
    this.signed = signed
  }
}

export interface SignerOptions {
  /** Milliseconds that one call may take, retries included. */
  timeoutMs?: number
  /** Sends every request to a provider; Node's own unless given. */
  fetch?: typeof fetch
  /** Pauses between two attempts, in milliseconds. */
  wait?: (milliseconds: number) => Promise<void>
  /** Aborted when the process ends; calls under way fail then. */
  ending?: AbortSignal
}
