/** An account as RPC nodes and the embedded chain represent it. */

export interface ChainAccount {
  lamports: bigint
  /** Base58 address of the program that owns the account. */
  owner: string
  data: Uint8Array
  executable: boolean
}
