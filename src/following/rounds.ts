/** Follows submitted transactions to their end: looks for them, proves their expiry and sends them again. */
import { optionalRead } from '../chain/reads/optional-read.ts'
import { readStatuses, STATUSES_PER_CALL } from '../chain/reads/statuses.ts'
import { RelayRefusal, relayOf } from '../chain/sending/relay.ts'
import {
  dueTransactions,
  expiredTransactions,
  type FollowedTransaction,
  followedOfBundle,
  isAnyTransactionDue,
} from '../store/transactions/transactions.ts'
import { type Budget, createBudget } from './budget.ts'
import { endExpired } from './expiry.ts'
import { type LookOptions, look, type MissingTransaction, writeStatuses } from './look.ts'
import { rotated, UNSEEN_DAY_MS } from './schedule.ts'
import { sendDue } from './send.ts'
import type { FollowingServices } from './services.ts'
import { bundleFailedTransition } from './transition.ts'
import { writeTransitions } from './write-transitions.ts'

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

// Ends bundles as soon as the relay reports that they failed. The chain itself shows a failure only when the
// blockhash expires.

/** Number of bundles in one status request to a block engine, which accepts one request per second. */
const BUNDLES_PER_CALL = 5

/**
 * Requests the status of bundles among `missing` in one call, and returns the first error of ending one. Their
 * transactions are still looked for until they expire, because the relay's answer proves nothing.
 */
async function endFailedBundles(
  services: FollowingServices,
  missing: readonly MissingTransaction[],
  budget: Budget,
  signal?: AbortSignal,
): Promise<unknown> {
  const submitted = missing.filter(({ row }) => row.lifecycle === 'submitted').map(({ row }) => row.bundle_id)
  const bundleIds = [...new Set(submitted)].filter((id) => id !== null)
  const ids = rotated(bundleIds, BUNDLES_PER_CALL, services.clock.now()).slice(0, BUNDLES_PER_CALL)
  if (ids.length === 0 || !budget.take()) return undefined
  const failed = await failedAmong(services, ids)
  const bundles = await Promise.all(failed.map((id) => followedOfBundle(services.store.db, id)))
  // A bundle has landed once one of its transactions was seen on the chain, whatever the relay reports.
  const ended = bundles.filter((rows) => rows.every(({ lifecycle }) => lifecycle === 'submitted')).flat()
  const faults = await writeTransitions(
    services,
    ended.map((row) => ({ row, transition: bundleFailedTransition() })),
    { signal },
  )
  return faults[0]?.error
}

/** If the relay is slow, unreachable or does not know, no bundle counts as failed; the chain decides. */
async function failedAmong({ config, chain, log }: FollowingServices, ids: readonly string[]): Promise<string[]> {
  const askRelay = () =>
    relayOf(config, chain)
      .failed(ids)
      .catch((error) => {
        if (error instanceof RelayRefusal) return []
        throw error
      })
  const failed = await optionalRead(log, 'the relay did not report the status of bundles', async () => askRelay())
  return failed ?? []
}
