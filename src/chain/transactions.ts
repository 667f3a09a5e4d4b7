/** Transactions as clients send them: base64 of the wire format. */
import { badRequest } from '../errors.ts'
import { type DecodedTransaction, decodeTransaction as decodeBytes, MalformedTransaction } from './localnet/messages.ts'
import { MAX_TRANSACTION_BYTES } from './localnet/types.ts'

/** Decodes and sanitizes, versioned or legacy, signed or not. Throws bad_request naming `param`. */
export function decodeTransaction(base64: string, param = 'transaction'): DecodedTransaction {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw badRequest(
      `${param}: a transaction has at most ${MAX_TRANSACTION_BYTES.toLocaleString('en')} bytes, this has ${bytes.length.toLocaleString('en')}`,
      { param },
    )
  }
  try {
    return decodeBytes(bytes)
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error
    throw badRequest(`${param} is not a base64 versioned transaction. ${error.message}`, { param, cause: error })
  }
}
