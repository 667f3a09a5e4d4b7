/** An account as RPC nodes and the embedded chain represent it. */

export interface ChainAccount {
  lamports: bigint
  /** Base58 address of the program that owns the account. */
  owner: string
  data: Uint8Array
  executable: boolean
}

/** An account with the epoch in which rent is due next, unless it is u64::MAX, that of accounts that are exempt. */
export interface DatedAccount extends ChainAccount {
  rentEpoch?: bigint
}
