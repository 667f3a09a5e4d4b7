/** Results of executing a transaction, and the error for a transaction that a validator refuses. */

/** A transaction error as JSON-RPC encodes it: `"BlockhashNotFound"`, `{ InstructionError: [0, { Custom: 1 }] }`. */
export type TransactionErrorJson = string | Record<string, unknown>

export interface TokenBalance {
  accountIndex: number
  mint: string
  owner: string
  programId: string
  /** Amount in raw units. */
  amount: bigint
  decimals: number
}

export interface InnerInstructions {
  /** Index of the outer instruction. */
  index: number
  instructions: { programIdIndex: number; accounts: number[]; data: Uint8Array; stackHeight: number }[]
}

/** Result of executing a transaction once. */
export interface Execution {
  err: TransactionErrorJson | null
  logs: string[]
  unitsConsumed: number
  returnData: { programId: string; data: Uint8Array } | null
  innerInstructions: InnerInstructions[]
}

/** A transaction was refused before it could land; it cost nothing and changed nothing. */
export class TransactionRefused extends Error {
  override readonly name = 'TransactionRefused'
  readonly err: TransactionErrorJson
  readonly execution: Execution | null

  constructor(err: TransactionErrorJson, execution: Execution | null = null) {
    super(typeof err === 'string' ? err : JSON.stringify(err))
    this.err = err
    this.execution = execution
  }
}
