/**
 * Runs a round of reconciliation with the chain: chooses accounts, checks them, reads new transactions and checks their
 * finality.
 */
import { SIGNATURES_PER_CALL } from '../../chain/reads/history.ts'
import { followMissing } from '../../store/following/followed-accounts.ts'
import { createBudget } from '../budget.ts'
import type { FollowingServices } from '../services.ts'
import { firstSlot } from './beginning.ts'
import { lookAtFinality } from './finality.ts'
import { lookAtAccounts } from './looks.ts'
import { readWaiting } from './reading.ts'

/** Least time between two rounds of one worker. It turns the calls per minute into calls per round. */
export const RECONCILE_EVERY_MS = 5_000
/**
 * Share of a round's calls for checking and listing. The remaining calls read the found transactions in the same round.
 */
const LOOK_PART = 0.5

interface ReconcileOptions {
  /** Ends the round between two calls. */
  signal?: AbortSignal | undefined
  /** Most calls to the node in this round. */
  calls: number
  /** Most calls in a minute of such rounds. The times between looks follow from it. */
  callsPerMinute: number
  /** Signatures in one listing; by default the most that a node returns. */
  pageSize?: number
}

/**
 * Does what is due, in at most `calls` calls; anything left is due again in the next round. Any number of daemons may
 * run rounds, because a row that has changed since it was read is not written. Throws internal_error if the node fails,
 * after writing what it had returned.
 */
export async function reconcile(
  services: FollowingServices,
  { signal, calls, callsPerMinute, pageSize = SIGNATURES_PER_CALL }: ReconcileOptions,
): Promise<void> {
  const { chain, store, clock, projections } = services
  const genesis = await chain.genesisHash()
  // One call is reserved for the genesis hash, which is requested once per node.
  const budget = createBudget(calls - 1)
  const from = await firstSlot(services, genesis)
  const faults: unknown[] = []
  for (const projection of projections) {
    signal?.throwIfAborted()
    const options = { genesis, takeCall: () => budget.left > calls * LOOK_PART && budget.take() }
    try {
      const accounts = (await projection.accountsToFollow?.(services, options)) ?? []
      await followMissing(store, accounts, { genesis, from, now: clock.now(), signal })
    } catch (error) {
      // Accounts that are already followed are checked nevertheless.
      if (signal?.aborted) throw error
      faults.push(error)
    }
  }
  await lookAtFinality(services, { genesis, budget })
  const forLooks = createBudget(Math.ceil(budget.left * LOOK_PART))
  const reserved = budget.left - forLooks.left
  await lookAtAccounts(services, { genesis, budget: forLooks, callsPerMinute, pageSize, signal })
  const forReading = createBudget(reserved + forLooks.left)
  await readWaiting(services, { genesis, budget: forReading, signal })
  if (faults.length > 0) throw faults[0]
}
