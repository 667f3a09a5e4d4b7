/** Explains why a stored transaction failed on chain: its bytes name its programs and guards, unless they were removed. */
import { decodeWireTransaction, MalformedTransaction } from '../../solana/messages.ts'
import { type ErrorContext, type ExplainedError, explainTransactionError } from '../errors/index.ts'
import { namesIn } from './transactions.ts'

/** A stored transaction that failed. */
interface FailedTransaction {
  err_json: string | null
  raw: Uint8Array
}

export function explainStored({ err_json, raw }: FailedTransaction): ExplainedError {
  return explainTransactionError(JSON.parse(err_json ?? 'null'), contextOf(raw))
}

function contextOf(raw: Uint8Array): ErrorContext {
  if (raw.length === 0) return {}
  try {
    return namesIn(decodeWireTransaction(raw).message)
  } catch (error) {
    if (error instanceof MalformedTransaction) return {}
    throw error
  }
}

/** The failure as a clause. */
export function failureWords(row: FailedTransaction): string {
  const { program, message } = explainStored(row)
  return program === null ? message : `${program}: ${message}`
}
