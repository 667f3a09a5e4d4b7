/** The result of building: a v0 transaction without signatures. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../errors.ts'
import { MAX_TRANSACTION_BYTES } from '../solana/constants.ts'

/** A v0 transaction that nobody has signed. */
export interface UnsignedTransaction {
  /** Wire format, with zeros in place of every signature. */
  transaction: Uint8Array
  /** Addresses that must sign, with the fee payer first. */
  requiredSigners: string[]
}

/** The common input of every built transaction. */
export interface Envelope {
  /** Address that pays the fee. */
  payer: string
  recentBlockhash: string
  /** Instructions before the others: compute limit and price. */
  before?: readonly TransactionInstruction[]
  /** Instructions after the others: the platform fee. */
  after?: readonly TransactionInstruction[]
}

/** Throws bad_request when the transaction exceeds the chain's size limit. */
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
  // The signature count takes one byte below 128. web3.js itself fails for messages beyond the limit.
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
