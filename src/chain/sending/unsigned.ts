/** The result of building: a transaction of version 0 or 1 without signatures. */
import type { TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../platform/errors.ts'
import { addressOf } from '../../solana/addresses.ts'
import { compileTransaction, TooMuchForVersion1 } from '../../solana/compiling.ts'
import { MAX_TRANSACTION_BYTES, MAX_V1_TRANSACTION_BYTES, SIGNATURE_BYTES } from '../../solana/constants.ts'
import type { TransactionConfig } from '../../solana/transaction-config.ts'
import { MAX_U64 } from '../../solana/u64.ts'

/** A transaction without signatures. It has lookup tables only if it executes a vault transaction that has them. */
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
  /** Whether guards are added to it; a list then takes fewer rows. */
  isGuarded?: boolean
}

/** A lookup table with the addresses of it that a transaction may load, by their places. */
export interface LookupTable {
  table: string
  addresses: ReadonlyMap<number, string>
}

/**
 * A transaction of version 0 loads from the tables what it can; one of version 1 has no tables. Throws bad_request when
 * the transaction exceeds a limit of the chain.
 */
export async function compileUnsigned(
  envelope: Envelope,
  instructions: readonly TransactionInstruction[],
  tables: readonly LookupTable[] = [],
): Promise<UnsignedTransaction> {
  const compiled =
    tables.length > 0 && envelope.messageConfig === undefined
      ? await compileWithTables(envelope, instructions, tables)
      : await compileAnySize(envelope, instructions)
  const most = roomOf(envelope)
  if (compiled.transaction.length > most) throw tooLarge(compiled.transaction.length, most)
  return compiled
}

/** Most bytes that the chain takes of a transaction with this envelope. */
export const roomOf = ({ messageConfig }: Pick<Envelope, 'messageConfig'>): number =>
  messageConfig === undefined ? MAX_TRANSACTION_BYTES : MAX_V1_TRANSACTION_BYTES

/** Compiles a transaction that may be too large for the chain. Throws bad_request for one that version 1 cannot represent. */
export async function compileAnySize(
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
  return { transaction, requiredSigners: signers.map(addressOf) }
}

/** No address: it fills the places of a table that the transaction does not use. */
const NOBODY = new Uint8Array(32).fill(0xff)

async function compileWithTables(
  { payer, recentBlockhash, before = [], after = [] }: Envelope,
  instructions: readonly TransactionInstruction[],
  tables: readonly LookupTable[],
): Promise<UnsignedTransaction> {
  const { AddressLookupTableAccount, MessageV0, PublicKey } = await import('@solana/web3.js')
  const nobody = new PublicKey(NOBODY)
  const accounts = tables.map(({ table, addresses }) => {
    const length = Math.max(0, ...addresses.keys()) + 1
    const listed = Array.from({ length }, (_, place) => addresses.get(place))
    return new AddressLookupTableAccount({
      key: new PublicKey(table),
      state: {
        deactivationSlot: MAX_U64,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: listed.map((address) => (address === undefined ? nobody : new PublicKey(address))),
      },
    })
  })
  const message = MessageV0.compile({
    payerKey: new PublicKey(payer),
    recentBlockhash,
    instructions: [...before, ...instructions, ...after],
    addressLookupTableAccounts: accounts,
  })
  const signers = message.header.numRequiredSignatures
  const bytes = serialized(message)
  const transaction = new Uint8Array(1 + SIGNATURE_BYTES * signers + bytes.length)
  transaction[0] = signers
  transaction.set(bytes, 1 + SIGNATURE_BYTES * signers)
  return {
    transaction,
    requiredSigners: message.staticAccountKeys.slice(0, signers).map((key) => addressOf(key.toBytes())),
  }
}

/** web3.js has room for one packet, and throws RangeError beyond it. */
function serialized(message: { serialize(): Uint8Array }): Uint8Array {
  try {
    return message.serialize()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw badRequest(
      `The transaction is larger than the ${MAX_TRANSACTION_BYTES} bytes that the chain takes: split it into several`,
      { cause: error },
    )
  }
}

/** Returns bad_request. It suggests version 1 if only version 0 lacks the room. */
function tooLarge(bytes: number, most: number) {
  const next = bytes <= MAX_V1_TRANSACTION_BYTES ? `, or send tx_version 1 (${MAX_V1_TRANSACTION_BYTES} bytes)` : ''
  return badRequest(`The transaction is larger than the ${most} bytes that the chain takes: shorten the texts${next}`)
}

/** Throws bad_request for what a transaction of version 1 cannot represent. */
export function withinVersion1<T>(compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof TooMuchForVersion1)) throw error
    throw badRequest(`The transaction cannot be built: ${error.message}`, { cause: error })
  }
}
