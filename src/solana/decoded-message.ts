/** A message as it is read from its bytes, of every version. */
import type { TransactionConfig } from './transaction-config.ts'

export interface CompiledInstruction {
  programIdIndex: number
  accounts: Uint8Array
  data: Uint8Array
}

export interface TableLookup {
  table: string
  writable: Uint8Array
  readonly: Uint8Array
}

export interface DecodedMessage {
  version: 'legacy' | 0 | 1
  signers: number
  readonlySigners: number
  readonlyOthers: number
  keys: string[]
  recentBlockhash: string
  /** Offset of the blockhash in the message's bytes. */
  blockhashOffset: number
  instructions: CompiledInstruction[]
  /** Always empty in a version 1 message. */
  lookups: TableLookup[]
  /** Limits and priority fee of a version 1 message, or null for another version. */
  config: TransactionConfig | null
}
