/** What a wallet of any kind offers to sign with. */

/** Signs messages for its address: here, in a program of the user's own, or on a device. */
export interface TransactionSigner {
  address: string
  sign(message: Uint8Array, more?: SignOptions): Uint8Array | Promise<Uint8Array>
  /** Whether a person confirms each signature on a device. */
  isDevice?: true
  /** Signs a text on a device; other signers sign the bytes of `offchainMessage`. */
  signText?(text: string): Promise<Uint8Array>
}

export interface SignOptions {
  /** Which of several transactions it is, such as `2 of 3`. */
  place?: string | undefined
  /**
   * Returns the message with a fresh blockhash. A device that can sign later calls it once the person has approved, and
   * signs that message instead; other signers never call it.
   */
  refresh?: (() => Promise<Uint8Array>) | undefined
}
