/** The result of building: a transaction of version 0 or 1 without signatures. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../platform/errors.ts'
import { addressOf } from '../../solana/addresses.ts'
import { compileTransaction, TooMuchForVersion1 } from '../../solana/compiling.ts'
import { MAX_TRANSACTION_BYTES, MAX_V1_TRANSACTION_BYTES } from '../../solana/constants.ts'
import type { TransactionConfig } from '../../solana/transaction-config.ts'

/** A transaction that nobody has signed, without lookup tables. */
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
  /** Limits and priority fee of a transaction of version 1. Without them the version is 0. */
  messageConfig?: TransactionConfig | undefined
  /** Instructions before the others: compute limit and price of version 0. */
  before?: readonly TransactionInstruction[]
  /** Instructions after the others: the platform fee. */
  after?: readonly TransactionInstruction[]
}

/** Throws bad_request when the transaction exceeds a limit of the chain. */
export async function compileUnsigned(
  { payer, recentBlockhash, messageConfig, before = [], after = [] }: Envelope,
  instructions: readonly TransactionInstruction[],
): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const { transaction, signers } = withinVersion1(() =>
    compileTransaction({
      payer: new PublicKey(payer),
      recentBlockhash,
      instructions: [...before, ...instructions, ...after],
      config: messageConfig,
      bytesOf: (key) => key.toBytes(),
    }),
  )
  const isVersion0 = messageConfig === undefined
  const most = isVersion0 ? MAX_TRANSACTION_BYTES : MAX_V1_TRANSACTION_BYTES
  if (transaction.length > most) throw tooLarge(transaction.length, most)
  return { transaction, requiredSigners: signers.map(addressOf) }
}

/** Returns bad_request. It suggests version 1 if only version 0 lacks the room. */
function tooLarge(bytes: number, most: number) {
  const next = bytes <= MAX_V1_TRANSACTION_BYTES ? `, or send tx_version 1 (${MAX_V1_TRANSACTION_BYTES} bytes)` : ''
  return badRequest(`The transaction is larger than the ${most} bytes that the chain takes: shorten the texts${next}`)
}

function withinVersion1<T>(compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof TooMuchForVersion1)) throw error
    throw badRequest(`The transaction cannot be built: ${error.message}`, { cause: error })
  }
}
