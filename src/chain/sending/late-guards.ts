/** Guards a transaction whose build could not be simulated, because an earlier one had not landed. */
import type { Config } from '../../settings/config.ts'
import { withConfigTerms, withTerms } from '../../solana/budget-terms.ts'
import { MAX_COMPUTE_UNITS, MAX_LOADED_BYTES } from '../../solana/constants.ts'
import { priorityFee, unitPriceOf } from '../../solana/fees.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import type { Chain } from '../connection.ts'
import { askNode } from '../nodes/rpc-faults.ts'
import { simulateOnNode } from '../reads/node-reads.ts'
import { limitAfter, priceWithin } from './compute-budget.ts'
import { type Guarding, unguarded } from './guard-report.ts'
import { guardedTransaction } from './guarding.ts'
import { loadedLimitFor } from './message-terms.ts'

interface Services {
  chain: Chain
  config: Pick<Config, 'values'>
}

/**
 * Adds the guards of these wallets, with limits that a simulation measures and the price that the transaction offers.
 * Returns it unchanged, with the reason, if it cannot have any. Throws internal_error when the node fails.
 */
export async function lateGuarded(
  services: Services,
  transaction: Uint8Array,
  wallets: readonly string[],
): Promise<{ transaction: Uint8Array; guarding: Guarding }> {
  const guarded = await guardedTransaction(services.chain, transaction, wallets)
  if (guarded.guarding.guards.length === 0) return guarded
  const measured = await withMeasuredLimits(services, guarded.transaction)
  return measured === null ? { transaction, guarding: unguarded('fails') } : { ...guarded, transaction: measured }
}

/** Null if it would fail. */
async function withMeasuredLimits({ chain, config }: Services, transaction: Uint8Array): Promise<Uint8Array | null> {
  const { message } = decodeWireTransaction(transaction)
  const termsOf = (units: number, price: bigint, loadedBytes: number) =>
    message.config === null
      ? withTerms(transaction, { units, price })
      : withConfigTerms(transaction, { units, loadedBytes, priorityFee: priorityFee(BigInt(units), price) })
  // The priority fee of the whole limit could be more than the payer has.
  const largest = termsOf(MAX_COMPUTE_UNITS, 0n, MAX_LOADED_BYTES)
  const { run } = await askNode('The simulation', () => simulateOnNode(chain, largest))
  const units = limitAfter(run, transaction)
  if (run.err !== null || units === null) return null
  const price = priceWithin(config, unitPriceOf(message), units)
  return termsOf(units, price, message.config === null ? 0 : await loadedLimitFor(chain, run, transaction))
}
