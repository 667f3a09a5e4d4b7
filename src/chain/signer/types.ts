/** Types of a signer, and the error of one that could not sign. */

export type ProviderName = 'keypair' | 'vault' | 'turnkey' | 'privy' | 'aws-kms'

export interface Signer {
  provider: ProviderName
  /** Address in base58. */
  address: string
  /** Returns 64 bytes over exactly these message bytes, verified against `address`. Throws SignerUnavailable. */
  sign(message: Uint8Array): Promise<Uint8Array>
  /** Throws SignerUnavailable with a remedy when the provider cannot be reached or its key is not this address. */
  check(): Promise<void>
}

/** `no` means that certainly nothing was signed, `unknown` that a signature may exist at the provider. */
export type SignatureOutcome = 'no' | 'unknown'

/**
 * The error of a signer without a usable signature. It has no cause, because the underlying error may quote tokens and
 * keys.
 */
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
  /** Sends every request to a provider. The default is that of Node. */
  fetch?: typeof fetch
  /** Pauses between two attempts, in milliseconds. */
  wait?: (milliseconds: number) => Promise<void>
  /** Aborted when the process ends, which fails the open calls. */
  ending?: AbortSignal
}
