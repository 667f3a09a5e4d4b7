/** What one run of a transaction did, or why a validator refuses to run it. */

/** A validator's transaction error as JSON-RPC shows it: `"BlockhashNotFound"`, `{ InstructionError: [0, { Custom: 1 }] }`. */
export type TransactionErrorJson = string | Record<string, unknown>

export interface TokenBalance {
  accountIndex: number
  mint: string
  owner: string
  programId: string
  /** Raw units. */
  amount: bigint
  decimals: number
}

export interface InnerInstructions {
  /** Index of the outer instruction. */
  index: number
  instructions: { programIdIndex: number; accounts: number[]; data: Uint8Array; stackHeight: number }[]
}

/** What one run of a transaction did. */
export interface Execution {
  err: TransactionErrorJson | null
  logs: string[]
  unitsConsumed: number
  returnData: { programId: string; data: Uint8Array } | null
  innerInstructions: InnerInstructions[]
}

/** A transaction was refused before it could land: it cost nothing and left nothing. */
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
