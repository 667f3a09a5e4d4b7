/** Sets limits and priority fee of built transactions of version 1, in the config of their message. */

import { namedAddresses, withConfigTerms, writableAddresses } from '../../solana/budget-terms.ts'
import { MAX_COMPUTE_UNITS, MAX_LOADED_BYTES } from '../../solana/constants.ts'
import { priorityFee } from '../../solana/fees.ts'
import type { TransactionConfig } from '../../solana/transaction-config.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { type NodeSimulation, simulateOnNode } from '../reads/node-reads.ts'
import { type BudgetServices, cappedPrice, type FailedSimulation, requestedPrice, unitsFor } from './compute-budget.ts'
import { loadedLimitOf, readLoadedSize } from './loaded-size.ts'
import type { UnsignedTransaction } from './unsigned.ts'

export interface TermsRequest<T> {
  build(config: TransactionConfig): Promise<T>
  /** Compute limit of a transaction that cannot run yet. */
  fallbackUnits: number
  /** Whether an earlier transaction must land first, so that nothing can be simulated. */
  follows: boolean
  /** May throw the failure of the simulation. */
  failed?: ((simulation: FailedSimulation) => void) | undefined
}

/**
 * Simulates a first build, then sets the measured limits and the configured priority fee, in lamports for the whole
 * transaction. The simulated build is never smaller than the result, so its size check holds for both. Throws what `build`
 * throws, and what `failed` throws for a failed simulation.
 */
export async function withMessageTerms<T extends UnsignedTransaction>(
  services: BudgetServices,
  { build, fallbackUnits, follows, failed = () => undefined }: TermsRequest<T>,
): Promise<T> {
  const { chain, config } = services
  const simulated = await build({
    computeUnitLimit: MAX_COMPUTE_UNITS,
    loadedAccountsDataSizeLimit: MAX_LOADED_BYTES,
    // The simulated build pays no priority fee, because that of the whole limit could be more than the payer has.
    priorityFeeLamports: config.values['priority-fee'] === 'none' ? null : 0n,
    heapSize: null,
  })
  const { transaction } = simulated
  const [run, requested] = await Promise.all([
    follows ? null : simulateOrNull(chain, transaction, failed),
    requestedPrice(services, () => writableAddresses(transaction)),
  ])
  const units = run?.unitsConsumed === undefined ? fallbackUnits : unitsFor(run.unitsConsumed)
  const price = cappedPrice(requested, units, BigInt(config.values['priority-fee-cap']))
  const loadedBytes = loadedLimit(toldSize(run) ?? (await sizeOf(chain, transaction)))
  const terms = { units, loadedBytes, priorityFee: priorityFee(BigInt(units), price) }
  return { ...simulated, transaction: withConfigTerms(transaction, terms) }
}

/** Returns null when the run fails, or the node fails. */
async function simulateOrNull(
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

function toldSize(run: NodeSimulation | null): number | null {
  const bytes = run?.loadedAccountsDataSize ?? 0
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null
}

/** If the node reports no sizes, the largest limit is used. That only lowers the priority. */
const sizeOf = (chain: NodeCalls, transaction: Uint8Array): Promise<number | null> =>
  readLoadedSize(chain, namedAddresses(transaction)).catch(() => null)

const loadedLimit = (bytes: number | null): number => (bytes === null ? MAX_LOADED_BYTES : loadedLimitOf(bytes))
