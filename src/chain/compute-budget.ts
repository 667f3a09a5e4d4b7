/** Compute limit and priority fee of built transactions: what a simulation uses with a margin, and what blocks ask lately. */
import type { Connection, TransactionInstruction } from '@solana/web3.js'
import type { Config } from '../config.ts'
import { decodeWireTransaction, isWritable } from '../solana/messages.ts'
import { MAX_U64 } from '../solana/u64.ts'
import type { UnsignedTransaction } from './unsigned.ts'

/** Most that one transaction can ask for. */
export const MAX_TRANSACTION_UNITS = 1_400_000
const SPARE_UNITS = 1_000
const PERCENTILE = 75n
const MICRO_LAMPORTS = 1_000_000n

export interface BudgetServices {
  connection: Connection
  /** Its settings priority-fee and priority-fee-cap. */
  config: Pick<Config, 'values'>
}

/** A trial that did not run through. */
export interface FailedTrial {
  transaction: Uint8Array
  err: unknown
  logs: readonly string[]
}

/**
 * Builds twice: a trial that is simulated, then the transaction with the limit that the trial asks for and the price
 * of `priority-fee`. The trial is never smaller than what is answered, so that its size check holds for both. Where
 * it cannot be run, as for a payer without funds, the limit is `fallbackUnits`. Throws what `build` throws, and
 * `failed`, which is told of a trial that did not run through.
 */
export async function withComputeBudget<T extends UnsignedTransaction>(
  { connection, config }: BudgetServices,
  build: (before: readonly TransactionInstruction[]) => Promise<T>,
  fallbackUnits: number,
  failed: (trial: FailedTrial) => void = () => undefined,
): Promise<T> {
  const { ComputeBudgetProgram } = await import('@solana/web3.js')
  const setting = config.values['priority-fee']
  const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units })
  const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
  // A trial for nothing: the fee of the whole limit could be more than the payer has.
  const { transaction } = await build([limit(MAX_TRANSACTION_UNITS), ...(setting === 'none' ? [] : [price(0n)])])
  const [used, asked] = await Promise.all([
    unitsUsed(connection, transaction, failed),
    askedPrice({ connection, config }, writableKeys(transaction)),
  ])
  const units = used === null ? fallbackUnits : unitsFor(used)
  const offered = cappedPrice(asked, units, BigInt(config.values['priority-fee-cap']))
  return build([limit(units), ...(offered > 0n ? [price(offered)] : [])])
}

export interface FixedBudget extends BudgetServices {
  /** Compute limit. */
  units: number
}

/** The same for a transaction that cannot be tried yet, as one before it has to land. Throws what `build` throws. */
export async function withFixedBudget<T extends UnsignedTransaction>(
  { units, ...services }: FixedBudget,
  build: (before: readonly TransactionInstruction[]) => Promise<T>,
): Promise<T> {
  const { ComputeBudgetProgram } = await import('@solana/web3.js')
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units })
  const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
  const { transaction } = await build([limit, price(0n)])
  const offered = await offeredPrice(services, writableKeys(transaction), units)
  return build([limit, ...(offered > 0n ? [price(offered)] : [])])
}

/**
 * Micro-lamports per unit for a transaction that cannot be tried yet, as one before it has to land: `accounts` are those
 * that it writes to, `units` its limit. By the same settings as above; 0 means none.
 */
export async function offeredPrice(
  services: BudgetServices,
  accounts: readonly string[],
  units: number,
): Promise<bigint> {
  const asked = await askedPrice(services, accounts)
  return cappedPrice(asked, units, BigInt(services.config.values['priority-fee-cap']))
}

/** What `priority-fee` says, before any cap. */
async function askedPrice({ connection, config }: BudgetServices, accounts: readonly string[]): Promise<bigint> {
  const setting = config.values['priority-fee']
  if (setting === 'auto') return recentPrice(connection, accounts)
  return setting === 'none' ? 0n : BigInt(setting)
}

/** A tenth and 1,000 more than were used: what a run needs varies with the accounts it meets. */
export function unitsFor(used: number): number {
  return Math.min(Math.ceil((used * 11) / 10) + SPARE_UNITS, MAX_TRANSACTION_UNITS)
}

/** Micro-lamports per unit, lowered until the priority fee of `units`, rounded up as the chain does, is within `cap` lamports. */
export function cappedPrice(price: bigint, units: number, cap: bigint): bigint {
  const highest = (cap * MICRO_LAMPORTS) / BigInt(units)
  return [price, highest, MAX_U64].reduce((least, each) => (each < least ? each : least))
}

/** The 75th percentile by nearest rank; 0 of none. */
export function percentileOf(fees: readonly bigint[]): bigint {
  const sorted = [...fees].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const rank = (BigInt(sorted.length) * PERCENTILE + 99n) / 100n
  return sorted[Number(rank) - 1] ?? 0n
}

/** Null where it does not run through, or the node fails. */
async function unitsUsed(
  connection: Connection,
  transaction: Uint8Array,
  failed: (trial: FailedTrial) => void,
): Promise<number | null> {
  const run = await trialOf(connection, transaction)
  if (run === null || run.err === null) return run?.unitsConsumed ?? null
  failed({ transaction, err: run.err, logs: run.logs ?? [] })
  return null
}

/** Null where the node fails. */
async function trialOf(connection: Connection, transaction: Uint8Array) {
  const { VersionedTransaction } = await import('@solana/web3.js')
  try {
    const options = { sigVerify: false, replaceRecentBlockhash: true }
    return (await connection.simulateTransaction(VersionedTransaction.deserialize(transaction), options)).value
  } catch {
    return null
  }
}

function writableKeys(transaction: Uint8Array): string[] {
  const { message } = decodeWireTransaction(transaction)
  return message.keys.filter((_, i) => isWritable(message, 0, i))
}

/** What writing to the accounts costs lately; 0 where the node does not say. */
async function recentPrice(connection: Connection, accounts: readonly string[]): Promise<bigint> {
  const { PublicKey } = await import('@solana/web3.js')
  const lockedWritableAccounts = accounts.map((address) => new PublicKey(address))
  try {
    const fees = await connection.getRecentPrioritizationFees({ lockedWritableAccounts })
    return percentileOf(fees.map(({ prioritizationFee }) => BigInt(prioritizationFee)))
  } catch {
    return 0n
  }
}
