/** The result of building: a v0 transaction without signatures. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../errors.ts'
import { addressOf } from '../solana/addresses.ts'
import { compileTransaction } from '../solana/compiling.ts'
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
  const { PublicKey } = await import('@solana/web3.js')
  const { transaction, signers } = compileTransaction({
    payer: new PublicKey(payer),
    recentBlockhash,
    instructions: [...before, ...instructions, ...after],
    bytesOf: (key) => key.toBytes(),
  })
  if (transaction.length > MAX_TRANSACTION_BYTES) {
    throw badRequest(
      `The transaction is larger than the ${MAX_TRANSACTION_BYTES} bytes that the chain takes: shorten the texts`,
    )
  }
  return { transaction, requiredSigners: signers.map(addressOf) }
}
