/** Sets the compute limit and priority fee of built transactions, from a simulation with a margin and from recent fees. */

import type { TransactionInstruction } from '@solana/web3.js'
import type { Config } from '../../settings/config.ts'
import { namedAddresses, withTerms, writableAddresses } from '../../solana/budget-terms.ts'
import { MAX_COMPUTE_UNITS } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { percentileOf } from '../../solana/recent-fees.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { type NodeSimulation, readRecentFees, simulateOnNode } from '../reads/node-reads.ts'
import type { UnsignedTransaction } from './unsigned.ts'

const SPARE_UNITS = 1_000
const MICRO_LAMPORTS = 1_000_000n

export interface BudgetServices {
  chain: NodeCalls
  /** The configuration with the settings priority-fee and priority-fee-cap. */
  config: Pick<Config, 'values'>
}

/** A simulation that failed. */
export interface FailedSimulation {
  transaction: Uint8Array
  err: unknown
  logs: readonly string[]
}

/**
 * Simulates a first build, then sets the measured limit and the configured price. The simulated build is never smaller
 * than the result, so its size check holds for both. If it cannot run, the limit is `fallbackUnits`. Throws what `build`
 * throws, and what `failed` throws for a failed simulation.
 */
export async function withComputeBudget<T extends UnsignedTransaction>(
  services: BudgetServices,
  build: (before: readonly TransactionInstruction[]) => Promise<T>,
  fallbackUnits: number,
  failed: (simulation: FailedSimulation) => void = () => undefined,
): Promise<T> {
  const { chain, config } = services
  const hasPrice = config.values['priority-fee'] !== 'none'
  // The simulated build has no price, because the fee of the whole limit could be more than the payer has.
  const simulated = await build(await budgetInstructions(MAX_COMPUTE_UNITS, hasPrice ? 0n : null))
  const { transaction } = simulated
  const [run, requested] = await Promise.all([
    simulateOrNull(chain, transaction, failed),
    requestedPrice(services, () => writableAddresses(transaction)),
  ])
  const units = limitAfter(run, transaction) ?? fallbackLimit(fallbackUnits, transaction)
  const price = priceWithin(config, requested, units)
  return { ...simulated, transaction: withTerms(transaction, { units, price }) }
}

interface FixedBudget extends BudgetServices {
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
  const built = await build(await budgetInstructions(units, 0n))
  const price = await offeredPrice(services, () => writableAddresses(built.transaction), units)
  return { ...built, transaction: withTerms(built.transaction, { units, price }) }
}

/** Returns limit and price, in the order in which `withTerms` finds them; a price of null is left out. */
export async function budgetInstructions(
  units: number,
  microLamports: bigint | null,
): Promise<TransactionInstruction[]> {
  const { ComputeBudgetProgram } = await import('@solana/web3.js')
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units })
  return microLamports === null ? [limit] : [limit, ComputeBudgetProgram.setComputeUnitPrice({ microLamports })]
}

/**
 * Returns micro-lamports per unit for a transaction that cannot be simulated before an earlier one has landed, or 0 for
 * no price. `accounts` returns those that it writes to, and `units` is its limit.
 */
export async function offeredPrice(
  services: BudgetServices,
  accounts: () => readonly string[],
  units: number,
): Promise<bigint> {
  const requested = await requestedPrice(services, accounts)
  return priceWithin(services.config, requested, units)
}

/** Returns the price that `priority-fee` selects, before any cap. */
export async function requestedPrice(
  { chain, config }: BudgetServices,
  accounts: () => readonly string[],
): Promise<bigint> {
  const setting = config.values['priority-fee']
  if (setting === 'auto') return recentPrice(chain, accounts())
  return setting === 'none' ? 0n : BigInt(setting)
}

const namesGuards = (transaction: Uint8Array): boolean => namedAddresses(transaction).includes(PROGRAMS.lighthouse.id)
/** Units that guards use at most. */
const MOST_GUARD_UNITS = 100_000
/** Opening the memory of guards takes 3,308 units more if somebody has sent lamports to its address meanwhile. */
export const guardUnits = (transaction: Uint8Array): number => (namesGuards(transaction) ? 3_500 : 0)

/** Limit of a transaction that has run; null if the node does not say what it used. */
export function limitAfter(run: NodeSimulation | null, transaction: Uint8Array): number | null {
  const used = run?.unitsConsumed ?? null
  return used === null ? null : unitsFor(used + guardUnits(transaction))
}

/** Limit of a transaction that could not be measured, with what its guards use at most. */
export const fallbackLimit = (units: number, transaction: Uint8Array): number =>
  namesGuards(transaction) ? Math.min(units + MOST_GUARD_UNITS, MAX_COMPUTE_UNITS) : units

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

/** The price within the setting priority-fee-cap. */
export const priceWithin = ({ values }: Pick<Config, 'values'>, price: bigint, units: number): bigint =>
  cappedPrice(price, units, BigInt(values['priority-fee-cap']))

/** Returns null when the run fails, or the node fails. */
export async function simulateOrNull(
  node: NodeCalls,
  transaction: Uint8Array,
  failed: (simulation: FailedSimulation) => void,
): Promise<NodeSimulation | null> {
  const run = await simulateOnNode(node, transaction).then(
    ({ run }) => run,
    () => null,
  )
  if (run === null || run.err === null) return run
  failed({ transaction, err: run.err, logs: run.logs ?? [] })
  return null
}

/** Returns the recent price of writing to the accounts, or 0 when the node does not report it. */
async function recentPrice(node: NodeCalls, accounts: readonly string[]): Promise<bigint> {
  try {
    return percentileOf((await readRecentFees(node, accounts)).map(BigInt))
  } catch {
    return 0n
  }
}
