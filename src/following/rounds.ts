/** Follows submitted transactions to their end: looks for them, proves that they expired, sends them again. */
import { STATUSES_PER_CALL } from '../chain/statuses.ts'
import { dueTransactions, type Followed, isAnythingDue } from '../store/transactions.ts'
import { type Budget, createBudget } from './budget.ts'
import { endFailedBundles } from './bundles.ts'
import { expire } from './expiry.ts'
import { type FollowServices, type LookOptions, look } from './look.ts'
import { sendDue } from './send.ts'

export { FIRST_SEND_MS } from './send.ts'

/** Calls to the RPC node of one round. */
export const ROUND_CALLS = 40
/** Of those, what may go into looking: the rest is for proving ends and for sending. */
const LOOK_SHARE = 0.8
/** Where a round is half full the next ones must have room for what this one had not. */
const BUSY_WAIT_MS = 4_500
/** A look at one transaction and what may come of it. */
const ONE_CALLS = 6

export interface RoundOptions {
  /** Ends the round between two calls. */
  signal?: AbortSignal
  calls?: number
}

/**
 * One round over everything that is due, in at most `calls` calls. What does not fit is due again in the next.
 * Throws internal_error where the node fails, what was found until then being written, and at its end what a row could not
 * be followed for.
 */
export async function followRound(
  services: FollowServices,
  { signal, calls = ROUND_CALLS }: RoundOptions = {},
): Promise<void> {
  // One is kept for the genesis hash, which is asked of a node once.
  const budget = createBudget(calls - 1)
  const most = Math.floor(calls * LOOK_SHARE) * STATUSES_PER_CALL
  if (!(await isAnythingDue(services.store.db, services.clock.now()))) return
  const genesis = await services.chain.genesisHash()
  const rows = await dueTransactions(services.store.db, genesis, services.clock.now(), most)
  try {
    await lookAt(services, rows, budget, { signal, leastWaitMs: rows.length > most / 2 ? BUSY_WAIT_MS : 0 })
  } finally {
    // A node that answers no question may still take a transaction.
    if (!signal?.aborted) await sendDue(services, budget)
  }
}

/** Looks at one transaction now, whoever else follows it. Throws where it cannot be followed, internal_error where the node fails. */
export async function followOne(services: FollowServices, row: Followed): Promise<void> {
  const budget = createBudget(ONE_CALLS)
  await lookAt(services, [row], budget)
  await sendDue(services, budget, row.signature)
}

async function lookAt(
  services: FollowServices,
  rows: readonly Followed[],
  budget: Budget,
  options: LookOptions = {},
): Promise<void> {
  const { signal } = options
  const missing = []
  let fault: unknown
  for (let at = 0; at < rows.length && budget.take(); at += STATUSES_PER_CALL) {
    signal?.throwIfAborted()
    const part = rows.slice(at, at + STATUSES_PER_CALL)
    const looked = await look(services, part, budget, options)
    missing.push(...looked.missing)
    fault ??= looked.fault
  }
  signal?.throwIfAborted()
  const unended = await expire(services, missing, budget, signal)
  fault ??= unended
  const undecided = await endFailedBundles(services, missing, budget, signal)
  fault ??= undecided
  if (fault !== undefined) throw fault
}
