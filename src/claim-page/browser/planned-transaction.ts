/** Transactions that a page plans: their instructions, costs and bytes. */
import { joinBytes } from '../../solana/bytes.ts'
import { compileTransaction } from '../../solana/compiling.ts'
import { MAX_TRANSACTION_BYTES, SIGNATURE_BYTES } from '../../solana/constants.ts'
import { legacyOf } from '../../solana/legacy-messages.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import type { PlainInstruction } from '../../solana/programs/table.ts'
import { percentileOf } from '../../solana/recent-fees.ts'
import type { RentRate } from '../../solana/rent.ts'
import { u32Of, u64Of } from './bytes.ts'
import type { ChainRecord } from './chain-records.ts'
import { requireKey } from './program-addresses.ts'
import { RpcRefusal, type SolanaNode } from './solana-node.ts'

export type MessageVersion = 0 | 'legacy'

/** What one transaction does. */
export interface PlannedTransaction {
  instructions: readonly PlainInstruction[]
  units: number
  /** Lamports that it takes besides the fee: rent of accounts, and a deposit. */
  takes: bigint
  /** Accounts that it changes, which determine the priority fee. */
  writable: readonly string[]
  /** What a simulation has to show before the visitor signs. */
  expected?: readonly Expected[]
}

/** The least that an account has after a transaction, in units that `of` reads. */
export interface Expected {
  address: string
  least: bigint
  of(record: ChainRecord | null): bigint
}

/** What a wallet has for costs, and what accounts cost. */
export interface Purse {
  lamports: bigint
  rentOf: RentRate
}

/** Lamports of a signature. */
export const SIGNATURE_FEE = 5_000n
/** Most lamports that the page pays for priority. */
export const MOST_PRIORITY_FEE = 100_000n

/** Sets the compute units of the transaction and their price in millionths of a lamport. */
export const budgetInstructions = (units: number, price: bigint): PlainInstruction[] => [
  { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data: joinBytes([Uint8Array.of(2), u32Of(units)]) },
  ...(price > 0n
    ? [{ program: COMPUTE_BUDGET_PROGRAM, accounts: [], data: joinBytes([Uint8Array.of(3), u64Of(price)]) }]
    : []),
]

/** Encodes a transaction of version 0 without signatures. */
export const unsignedTransaction = (
  payer: string,
  instructions: readonly PlainInstruction[],
  recentBlockhash: string,
): Uint8Array => {
  const uncompiled = instructions.map(({ program, accounts, data }) => ({
    programId: program,
    keys: accounts.map(({ address, ...role }) => ({ pubkey: address, ...role })),
    data,
  }))
  return compileTransaction({ payer, recentBlockhash, instructions: uncompiled, bytesOf: requireKey }).transaction
}

/** Whether the instructions fit into one transaction with any budget. */
export const isFitting = (wallet: string, instructions: readonly PlainInstruction[]): boolean =>
  unsignedTransaction(wallet, [...budgetInstructions(1, 1n), ...instructions], SYSTEM_PROGRAM).length <=
  MAX_TRANSACTION_BYTES

/** Whether the transaction and its fee take all that the wallet has, so that nothing is left for a priority fee. */
export const leavesNothing = (
  { lamports }: Pick<Purse, 'lamports'>,
  { takes }: Pick<PlannedTransaction, 'takes'>,
): boolean => lamports === takes + SIGNATURE_FEE

/**
 * Lamports that the wallet lacks for a transaction at the highest fee, or 0n. The remaining balance must be 0 or at
 * least the rent minimum.
 */
export function lamportsMissing({ lamports, rentOf }: Purse, { takes }: PlannedTransaction): bigint {
  const cost = takes + SIGNATURE_FEE + MOST_PRIORITY_FEE
  if (leavesNothing({ lamports }, { takes })) return 0n
  const needed = cost + rentOf(0)
  return lamports >= needed ? 0n : needed - lamports
}

/**
 * Price of a compute unit in millionths of a lamport: the 75th percentile of recent prices, within the limit.
 */
export async function unitPrice(node: SolanaNode, { writable, units }: PlannedTransaction): Promise<bigint> {
  try {
    const fees = await node.call('getRecentPrioritizationFees', [writable.slice(0, 128)])
    const paid = (Array.isArray(fees) ? fees : [])
      .map(({ prioritizationFee }) => prioritizationFee)
      .filter((fee): fee is number => Number.isSafeInteger(fee) && fee >= 0)
    const price = percentileOf(paid.map(BigInt))
    const most = (MOST_PRIORITY_FEE * 1_000_000n) / BigInt(units)
    return price < most ? price : most
  } catch (error) {
    if (error instanceof RpcRefusal) return 0n
    throw error
  }
}

/** The whole unsigned transaction, which the wallet alone signs. */
export function transactionOf(
  wallet: string,
  { instructions, units }: PlannedTransaction,
  price: bigint,
  blockhash: string,
  version: MessageVersion,
): Uint8Array {
  const transaction = unsignedTransaction(wallet, [...budgetInstructions(units, price), ...instructions], blockhash)
  const message = { version: 0 as const, lookups: [], signers: 1 }
  return version === 0 ? transaction : legacyOf({ message, messageBytes: transaction.subarray(1 + SIGNATURE_BYTES) })
}
