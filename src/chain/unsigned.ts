/** What building leaves: a v0 transaction that waits for its signatures. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../errors.ts'
import { MAX_TRANSACTION_BYTES } from '../solana/constants.ts'

/** A v0 transaction that nobody has signed. */
export interface UnsignedTransaction {
  /** Wire format, with zeros in place of every signature. */
  transaction: Uint8Array
  /** Addresses that must sign, the fee payer first. */
  requiredSigners: string[]
}

/** What every built transaction takes. */
export interface Envelope {
  /** Pays the fee. */
  payer: string
  recentBlockhash: string
  /** Ahead of the instructions: compute limit and price. */
  before?: readonly TransactionInstruction[]
  /** Behind them: the platform fee. */
  after?: readonly TransactionInstruction[]
}

/** Throws bad_request when the transaction is larger than the chain takes. */
export async function compileUnsigned(
  { payer, recentBlockhash, before = [], after = [] }: Envelope,
  instructions: readonly TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const { PublicKey, TransactionMessage, VersionedTransaction } = await import('@solana/web3.js')
  const message = new TransactionMessage({
    payerKey: new PublicKey(payer),
    recentBlockhash,
    instructions: [...before, ...instructions, ...after],
  }).compileToV0Message()
  const { numRequiredSignatures } = message.header
  // The count of signatures takes one byte below 128 of them; web3.js itself gives up on messages past the limit.
  const bytes = 1 + 64 * numRequiredSignatures + serializedLength(() => message.serialize())
  if (bytes > MAX_TRANSACTION_BYTES) {
    throw badRequest(
      `The transaction is larger than the ${MAX_TRANSACTION_BYTES} bytes that the chain takes: shorten the texts`,
    )
  }
  return {
    transaction: new VersionedTransaction(message).serialize(),
    requiredSigners: message.staticAccountKeys.slice(0, numRequiredSignatures).map((key) => key.toBase58()),
  }
}

function serializedLength(serialize: () => Uint8Array): number {
  try {
    return serialize().length
  } catch (error) {
    if (error instanceof RangeError) return MAX_TRANSACTION_BYTES
    throw error
  }
}
