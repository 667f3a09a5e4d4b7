/** Sets the compute limit and priority fee of built transactions, from a simulation with a margin and from recent fees. */
import type { Connection, PublicKey, TransactionInstruction, VersionedTransaction } from '@solana/web3.js'
import type { Config } from '../config.ts'
import { MAX_COMPUTE_UNITS } from '../solana/constants.ts'
import { MAX_U64 } from '../solana/u64.ts'
import type { UnsignedTransaction } from './unsigned.ts'

const SPARE_UNITS = 1_000
const PERCENTILE = 75n
const MICRO_LAMPORTS = 1_000_000n

export interface BudgetServices {
  connection: Connection
  /** The configuration with the settings priority-fee and priority-fee-cap. */
  config: Pick<Config, 'values'>
}

/** A trial simulation that failed. */
export interface FailedTrial {
  transaction: Uint8Array
  err: unknown
  logs: readonly string[]
}

/**
 * Builds a trial that is simulated, then the transaction with the resulting limit and the price of `priority-fee`. The
 * trial is never smaller, so its size check holds for both. If it cannot run, the limit is `fallbackUnits`. Throws what
 * `build` throws, and what `failed` throws for a failed trial.
 */
export async function withComputeBudget<T extends UnsignedTransaction>(
  { connection, config }: BudgetServices,
  build: (before: readonly TransactionInstruction[]) => Promise<T>,
  fallbackUnits: number,
  failed: (trial: FailedTrial) => void = () => undefined,
): Promise<T> {
  const { ComputeBudgetProgram, VersionedTransaction } = await import('@solana/web3.js')
  const setting = config.values['priority-fee']
  const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units })
  const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
  // The trial has no price, because the fee of the whole limit could be more than the payer has.
  const { transaction } = await build([limit(MAX_COMPUTE_UNITS), ...(setting === 'none' ? [] : [price(0n)])])
  const trial = VersionedTransaction.deserialize(transaction)
  const [used, requested] = await Promise.all([
    unitsUsed(connection, { trial, transaction }, failed),
    requestedPrice({ connection, config }, writableKeys(trial)),
  ])
  const units = used === null ? fallbackUnits : unitsFor(used)
  const offered = cappedPrice(requested, units, BigInt(config.values['priority-fee-cap']))
  return build([limit(units), ...(offered > 0n ? [price(offered)] : [])])
}

export interface FixedBudget extends BudgetServices {
  /** Compute limit. */
  units: number
}

/**
 * Sets a fixed limit for a transaction that cannot be simulated before an earlier one has landed. Throws what `build`
 * throws.
 */
export async function withFixedBudget<T extends UnsignedTransaction>(
  { units, ...services }: FixedBudget,
  build: (before: readonly TransactionInstruction[]) => Promise<T>,
): Promise<T> {
  const { ComputeBudgetProgram, VersionedTransaction } = await import('@solana/web3.js')
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units })
  const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
  const { transaction } = await build([limit, price(0n)])
  const offered = await offeredPrice(services, writableKeys(VersionedTransaction.deserialize(transaction)), units)
  return build([limit, ...(offered > 0n ? [price(offered)] : [])])
}

/**
 * Returns micro-lamports per unit for a transaction that cannot be simulated before an earlier one has landed, or 0 for
 * no price. `accounts` are those that it writes to, and `units` is its limit.
 */
export async function offeredPrice(
  services: BudgetServices,
  accounts: readonly PublicKey[],
  units: number,
): Promise<bigint> {
  const requested = await requestedPrice(services, accounts)
  return cappedPrice(requested, units, BigInt(services.config.values['priority-fee-cap']))
}

/** Returns the price that `priority-fee` selects, before any cap. */
async function requestedPrice({ connection, config }: BudgetServices, accounts: readonly PublicKey[]): Promise<bigint> {
  const setting = config.values['priority-fee']
  if (setting === 'auto') return recentPrice(connection, accounts)
  return setting === 'none' ? 0n : BigInt(setting)
}

/** Adds a tenth and 1,000 units, because the units that a run uses vary with the accounts. */
export function unitsFor(used: number): number {
  return Math.min(Math.ceil((used * 11) / 10) + SPARE_UNITS, MAX_COMPUTE_UNITS)
}

/**
 * Returns micro-lamports per unit, lowered until the priority fee of `units`, rounded up as on the chain, is within
 * `cap` lamports.
 */
export function cappedPrice(price: bigint, units: number, cap: bigint): bigint {
  const highest = (cap * MICRO_LAMPORTS) / BigInt(units)
  return [price, highest, MAX_U64].reduce((least, each) => (each < least ? each : least))
}

/** Returns the 75th percentile by nearest rank, or 0 for an empty list. */
export function percentileOf(fees: readonly bigint[]): bigint {
  const sorted = [...fees].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const rank = (BigInt(sorted.length) * PERCENTILE + 99n) / 100n
  return sorted[Number(rank) - 1] ?? 0n
}

/** Returns null when the simulation fails, or the node fails. */
async function unitsUsed(
  connection: Connection,
  { trial, transaction }: { trial: VersionedTransaction; transaction: Uint8Array },
  failed: (trial: FailedTrial) => void,
): Promise<number | null> {
  const run = await trialOf(connection, trial)
  if (run === null || run.err === null) return run?.unitsConsumed ?? null
  failed({ transaction, err: run.err, logs: run.logs ?? [] })
  return null
}

/** Returns null when the node fails. */
async function trialOf(connection: Connection, trial: VersionedTransaction) {
  try {
    const options = { sigVerify: false, replaceRecentBlockhash: true }
    return (await connection.simulateTransaction(trial, options)).value
  } catch {
    return null
  }
}

/** No built transaction uses lookup tables, so its static keys are all of its accounts. */
const writableKeys = ({ message }: VersionedTransaction): PublicKey[] =>
  message.staticAccountKeys.filter((_, i) => message.isAccountWritable(i))

/** Returns the recent price of writing to the accounts, or 0 when the node does not report it. */
async function recentPrice(connection: Connection, accounts: readonly PublicKey[]): Promise<bigint> {
  const lockedWritableAccounts = [...accounts]
  try {
    const fees = await connection.getRecentPrioritizationFees({ lockedWritableAccounts })
    return percentileOf(fees.map(({ prioritizationFee }) => BigInt(prioritizationFee)))
  } catch {
    return 0n
  }
}
