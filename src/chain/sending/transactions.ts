/** Decodes transactions as clients send them: base64 of the wire format. */

import { badRequest } from '../../platform/errors.ts'
import { looksBase58 } from '../../solana/addresses.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import type { LoadedAddresses } from '../../solana/lookup-tables.ts'
import { bareInstruction, instructionsIn } from '../../solana/message-instructions.ts'
import {
  type DecodedTransaction,
  decodeOnce,
  isVersion1,
  keyAt,
  MalformedTransaction,
  maxBytesOf,
} from '../../solana/messages.ts'
import { missingSigners, signatureHolds } from '../../solana/signatures.ts'

/** Decodes and validates a transaction of any version, signed or not. Throws bad_request naming `param`. */
export function decodeTransaction(base64: string, param = 'transaction'): DecodedTransaction {
  const bytes = Buffer.from(base64, 'base64')
  const most = maxBytesOf(bytes)
  if (bytes.length > most && !looksBase58(base64)) {
    throw badRequest(
      `${param}: a transaction ${isVersion1(bytes) ? 'of version 1' : 'before version 1'} has at most ${most.toLocaleString('en')} bytes, this one has ${bytes.length.toLocaleString('en')}`,
      { param },
    )
  }
  try {
    return decodeOnce(bytes)
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error
    const why = looksBase58(base64) ? 'It looks like base58: encode it as base64' : error.message
    throw badRequest(`${param} is not a base64 versioned transaction. ${why}`, { param, cause: error })
  }
}

/** Decodes a transaction with all of its signatures, and checks them. Throws bad_request naming the signers. */
export function decodeSigned(base64: string, param = 'transaction'): DecodedTransaction {
  const decoded = decodeWithSignatures(base64, param)
  requireValidSignatures(decoded, param)
  return decoded
}

/**
 * Decodes a transaction with all of its signatures, without checking them. Throws bad_request naming the
 * missing signers.
 */
export function decodeWithSignatures(base64: string, param = 'transaction'): DecodedTransaction {
  const decoded = decodeTransaction(base64, param)
  const missing = missingSigners(decoded)
  if (missing.length > 0) {
    throw badRequest(`${param} is not signed by ${missing.join(', ')}: sign it with every required signer`, {
      param,
      details: { missing_signers: missing },
    })
  }
  return decoded
}

/** Throws bad_request naming the signers whose signatures are not of this message. */
export function requireValidSignatures(decoded: DecodedTransaction, param = 'transaction'): void {
  const wrong = signersOf(decoded.message).filter((_, i) => !signatureHolds(decoded, i))
  if (wrong.length === 0) return
  throw badRequest(
    `${param}: the signature of ${wrong.join(', ')} does not fit; change nothing after signing, and sign with that key`,
    { param, details: { invalid_signers: wrong } },
  )
}

const signersOf = ({ keys, signers }: DecodedMessage): string[] => keys.slice(0, signers)

/**
 * Returns the context of an error: each instruction and its program, and the message's own accounts. Without the addresses
 * of its lookup tables, an account of a table is `TABLE[place]`.
 */
export function namesIn(message: DecodedMessage, loaded?: LoadedAddresses) {
  const programIds = message.instructions.map(({ programIdIndex }) => keyAt(message, programIdIndex))
  const instructions = instructionsIn(message, loaded).map(bareInstruction)
  return { programIds, instructions, accountKeys: message.keys, nonceAccount: lifetimeOf(message).nonceAccount }
}
