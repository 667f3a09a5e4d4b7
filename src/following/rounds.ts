/** Follows submitted transactions to their end: looks for them, proves their expiry and sends them again. */
import { readStatuses, STATUSES_PER_CALL } from '../chain/reads/statuses.ts'
import {
  dueTransactions,
  expiredTransactions,
  type FollowedTransaction,
  isAnyTransactionDue,
} from '../store/transactions/transactions.ts'
import { type Budget, createBudget } from './budget.ts'
import { endFailedBundles } from './bundles.ts'
import { endExpired } from './expiry.ts'
import { type LookOptions, look, type MissingTransaction, writeStatuses } from './look.ts'
import { UNSEEN_DAY_MS } from './schedule.ts'
import { sendDue } from './send.ts'
import type { FollowingServices } from './services.ts'

/** Calls to the RPC node in one round. */
export const ROUND_CALLS = 40
/** The share of the calls that looking may use; the remaining calls prove expiry and send. */
const LOOK_SHARE = 0.8
/** Wait after a round that is at least half full, so that the next rounds have room for the other transactions. */
const BUSY_WAIT_MS = 4_500
/** Calls for what is asked once in a while: the genesis hash, the consensus, and the time of a slot. */
const CALLS_ABOUT_CLUSTER = 3
/** Calls for a look at one transaction and for the steps that follow it. */
const CALLS_FOR_ONE = 6

export interface FollowRoundOptions {
  /** Ends the round between two calls. */
  signal?: AbortSignal
  calls?: number
}

/**
 * Runs one round over everything that is due, in at most `calls` calls; anything left is due again in the next round.
 * Throws internal_error if the node fails, after writing what it had returned, and at the end the first error of a
 * transaction.
 */
export async function followDue(
  services: FollowingServices,
  { signal, calls = ROUND_CALLS }: FollowRoundOptions = {},
): Promise<void> {
  const budget = createBudget(calls - CALLS_ABOUT_CLUSTER)
  const limit = Math.floor(calls * LOOK_SHARE) * STATUSES_PER_CALL
  const { db } = services.store
  if (!(await isAnyTransactionDue(db, services.clock.now()))) return
  const genesis = await services.chain.genesisHash()
  const rows = await dueTransactions(db, genesis, services.clock.now(), limit)
  try {
    await lookAndEnd(services, rows, budget, { signal, leastWaitMs: rows.length > limit / 2 ? BUSY_WAIT_MS : 0 })
  } finally {
    // A node that fails to answer reads may still accept a transaction.
    if (!signal?.aborted) await sendDue(services, budget)
  }
}

/**
 * Looks again for transactions of the last day that ended as expired: one that the chain shows after all is corrected,
 * with its events. One call for 256 of them. Throws internal_error when the node fails.
 */
export async function correctExpired(services: FollowingServices): Promise<void> {
  const { store, chain, clock } = services
  const genesis = await chain.genesisHash()
  const since = clock.now() - UNSEEN_DAY_MS
  const rows = await expiredTransactions(store.db, { genesis, since, limit: STATUSES_PER_CALL })
  if (rows.length === 0) return
  const { slot, statuses } = await readStatuses(
    chain,
    rows.map(({ signature }) => signature),
    true,
  )
  const found = rows.flatMap((row, i) => {
    const status = statuses[i] ?? null
    return status === null ? [] : [{ row, status }]
  })
  await writeStatuses(services, found, { slot, budget: createBudget(ROUND_CALLS) })
}

/**
 * Looks at one transaction now, even if another process follows it. Throws internal_error when the node fails, and
 * another error when it cannot be followed.
 */
export async function followOne(services: FollowingServices, row: FollowedTransaction): Promise<void> {
  const budget = createBudget(CALLS_FOR_ONE)
  await lookAndEnd(services, [row], budget)
  await sendDue(services, budget, row.signature)
}

/**
 * Looks for the transactions, and ends those that have expired or whose bundle has failed. Throws the first error at
 * the end.
 */
async function lookAndEnd(
  services: FollowingServices,
  rows: readonly FollowedTransaction[],
  budget: Budget,
  options: LookOptions = {},
): Promise<void> {
  const { signal } = options
  const missing: MissingTransaction[] = []
  const faults: unknown[] = []
  for (let at = 0; at < rows.length && budget.take(); at += STATUSES_PER_CALL) {
    signal?.throwIfAborted()
    const result = await look(services, rows.slice(at, at + STATUSES_PER_CALL), budget, options)
    missing.push(...result.missing)
    faults.push(result.fault)
  }
  signal?.throwIfAborted()
  faults.push(await endExpired(services, missing, budget, signal))
  faults.push(await endFailedBundles(services, missing, budget, signal))
  const fault = faults.find((each) => each !== undefined && each !== null)
  if (fault !== undefined) throw fault
}
