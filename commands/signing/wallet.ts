/** What commands ask of the local keypair, and what is in a transaction as it is read here. */

/** The keypair of the person at the keyboard; it never leaves this process. Transactions are base64 of the wire format. */
export interface Wallet {
  /** Writes a new keypair file (0600); false where there is one already, which stays. */
  make(file: string): Promise<boolean>
  /** Public key of the keypair file, or of the Solana CLI's where none is given. Throws a usage problem naming the file. */
  address(file?: string): Promise<string>
  /** The key pair of a 32-byte seed, which nobody else has: of an account that is made by it. */
  derive(seed: Uint8Array): Promise<{ address: string; secretKey: number[] }>
  /** Adds signatures and changes nothing else. Throws a usage problem for a keypair that is no signer. */
  sign(transaction: string, keys: SigningKeys): Promise<SignedTransaction>
  decode(transaction: string): Promise<TransactionContent>
  /** What the `err` of a simulation or a status means. */
  explain(transaction: string, err: unknown, logs: readonly string[] | null): Promise<Explanation>
}
export interface SigningKeys {
  keypair?: string | undefined
  /** Secret keys that the API made for this transaction, 64 integers each. */
  secretKeys?: readonly (readonly number[])[] | undefined
  /** False signs with `secretKeys` alone. */
  own?: boolean
  /** Leaves out those of `secretKeys` that are no signers of this transaction; otherwise they are a failure. */
  skipsOthers?: boolean
}
export interface SignedTransaction {
  transaction: string
  /** The first signature, which is the transaction's id; null until its fee payer has signed. */
  signature: string | null
  signed: string[]
  missing: string[]
}
export interface TransactionContent {
  version: 'legacy' | 0
  signature: string | null
  fee_payer: string
  recent_blockhash: string
  /** In bytes. */
  size: number
  signers: { address: string; signature: 'valid' | 'missing' | 'invalid' }[]
  instructions: {
    program: string
    /** Null for a program that svc does not know. */
    name: string | null
    /** Accounts of a lookup table as `TABLE[place]`. */
    accounts: { address: string; signer: boolean; writable: boolean }[]
    /** Hex. */
    data: string
  }[]
}
export interface Explanation {
  program: string | null
  name: string
  message: string
  hint: string | null
}
