/** An account as every node and the embedded chain have it. */

export interface ChainAccount {
  lamports: bigint
  /** Program that owns it, base58. */
  owner: string
  data: Uint8Array
  executable: boolean
}
