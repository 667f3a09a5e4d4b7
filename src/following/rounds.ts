/** Follows submitted transactions to their end: looks for them, proves their expiry and sends them again. */
import { optionalRead } from '../chain/reads/optional-read.ts'
import {
  type Ended,
  readBlockhashEnd,
  readFirstBlock,
  readNonceEnds,
  readStatuses,
  STATUSES_PER_CALL,
} from '../chain/reads/statuses.ts'
import { RelayRefusal, relayOf } from '../chain/sending/relay.ts'
import { ENDED_BLOCKHASH_SLOTS } from '../solana/constants.ts'
import {
  dueTransactions,
  expiredTransactions,
  type FollowedTransaction,
  followedOfBundle,
  isAnyTransactionDue,
  noteChecked,
} from '../store/transactions/transactions.ts'
import { FAULTY_ROW_WAIT_MS } from '../store/writing/write-each.ts'
import { type Budget, createBudget, takeCalls } from './budget.ts'
import { type HistoryEvidence, historyEvidence } from './history-evidence.ts'
import { type LookOptions, look, type MissingTransaction, writeStatuses } from './look.ts'
import { rotated, UNSEEN_DAY_MS } from './schedule.ts'
import { sendDue } from './send.ts'
import type { FollowingServices } from './services.ts'
import { bundleFailedTransition, expiredTransition } from './transition.ts'
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

// Ends transactions that can no longer land: their blockhash or nonce has expired at finality, and two nodes, the
// embedded chain or a history show that they are in no block. The word of one node proves nothing.

const NONCES_PER_CALL = 100
/** Each round starts this many rows after the start of the round before. */
const ROWS_PER_TURN = 97
/** Calls reserved for later steps: two for the last reading of statuses, the others for sending. */
const RESERVED_CALLS = 5
/** One call for the start of the history, one for the statuses. Those to a second endpoint are not counted. */
const CALLS_OF_LAST_READ = 2

/** A transaction whose blockhash or nonce has expired, with the finalized slot of that reading. */
interface ExpiryCandidate {
  row: FollowedTransaction
  slot: number
  sinceSlot: number
}

/** Returns the slot of the row's first check if its blockhash or nonce must have expired by `slot`, otherwise null. */
function provableSince({ since_slot }: FollowedTransaction, slot: number): number | null {
  return since_slot !== null && slot >= since_slot + ENDED_BLOCKHASH_SLOTS ? since_slot : null
}

/**
 * Ends the expired ones among the `missing` transactions that are old enough, and returns the first error of ending
 * one. Throws internal_error when the node fails.
 */
async function endExpired(
  services: FollowingServices,
  missing: readonly MissingTransaction[],
  budget: Budget,
  signal?: AbortSignal,
): Promise<unknown> {
  // A node that lags behind cannot prove that a transaction has expired.
  const open = missing.filter(({ row }) => row.next_check_at !== null)
  const old = open.filter(({ row, slot }) => provableSince(row, slot) !== null).map(({ row }) => row)
  const rows = rotated(old, ROWS_PER_TURN, services.clock.now())
  if (rows.length === 0) return undefined
  const reserved = budget.left > 2 * RESERVED_CALLS ? RESERVED_CALLS : 2
  const candidates = [
    ...(await byBlockhash(services, rows, budget, reserved)),
    ...(await byNonce(services, rows, budget, reserved)),
  ]
  let fault: unknown
  for (let at = 0; at < candidates.length && takeCalls(budget, CALLS_OF_LAST_READ); at += STATUSES_PER_CALL) {
    const error = await endMissing(services, candidates.slice(at, at + STATUSES_PER_CALL), budget, signal)
    fault ??= error
  }
  return fault
}

/** Returns the row if it is old enough. By then every fork that knew the blockhash is decided. */
function candidateAt(row: FollowedTransaction, slot: number): ExpiryCandidate[] {
  const sinceSlot = provableSince(row, slot)
  return sinceSlot === null ? [] : [{ row, slot, sinceSlot }]
}

/** Returns the ends on which all readings agree, at the lowest of their slots. Without a reading nothing is proven. */
function agreedEnd(readings: readonly Ended[]): { slot: number; ended(place: number): boolean } {
  return {
    slot: Math.min(...readings.map(({ slot }) => slot)),
    ended: (place) => readings.length > 0 && readings.every(({ ended }) => ended[place] === true),
  }
}

async function byBlockhash(
  { chain }: FollowingServices,
  rows: readonly FollowedTransaction[],
  budget: Budget,
  reserved: number,
): Promise<ExpiryCandidate[]> {
  const groups = new Map<string, FollowedTransaction[]>()
  for (const row of rows) {
    if (row.nonce_account !== null) continue
    groups.set(row.blockhash, [...(groups.get(row.blockhash) ?? []), row])
  }
  const candidates: ExpiryCandidate[] = []
  for (const [blockhash, group] of groups) {
    if (budget.left <= reserved || !budget.take()) break
    const readings = await chain.witnesses((node) => readBlockhashEnd(node, blockhash))
    const { slot, ended } = agreedEnd(readings)
    if (ended(0)) candidates.push(...group.flatMap((row) => candidateAt(row, slot)))
  }
  return candidates
}

async function byNonce(
  { chain }: FollowingServices,
  rows: readonly FollowedTransaction[],
  budget: Budget,
  reserved: number,
): Promise<ExpiryCandidate[]> {
  const durable = rows.flatMap((row) =>
    row.nonce_account === null ? [] : [{ row, nonce: { account: row.nonce_account, value: row.blockhash } }],
  )
  const candidates: ExpiryCandidate[] = []
  for (let at = 0; at < durable.length; at += NONCES_PER_CALL) {
    if (budget.left <= reserved || !budget.take()) break
    const part = durable.slice(at, at + NONCES_PER_CALL)
    const nonces = part.map(({ nonce }) => nonce)
    const { slot, ended } = agreedEnd(await chain.witnesses((node) => readNonceEnds(node, nonces)))
    candidates.push(...part.flatMap(({ row }, i) => (ended(i) ? candidateAt(row, slot) : [])))
  }
  return candidates
}

/**
 * Reads the statuses a last time and ends transactions that are still missing. The nodes must have reached the slot of
 * the first reading, and their history must begin before the transaction. The only node of a cluster ends none: the
 * histories of the payer and the nonce decide, and a transaction that they show is followed on.
 */
async function endMissing(
  services: FollowingServices,
  candidates: readonly ExpiryCandidate[],
  budget: Budget,
  signal?: AbortSignal,
): Promise<unknown> {
  const { store, chain, clock } = services
  const signatures = candidates.map(({ row }) => row.signature)
  const readings = await chain.witnesses(async (node) => {
    const historyStart = await readFirstBlock(node)
    return { historyStart, ...(await readStatuses(node, signatures, true)) }
  })
  const slot = Math.min(...readings.map((reading) => reading.slot))
  const absent = candidates.filter(
    (candidate, i) =>
      readings.length > 0 &&
      readings.every(
        ({ historyStart, statuses }) =>
          statuses[i] === null && slot >= candidate.slot && historyStart <= candidate.sinceSlot,
      ),
  )
  const shown = chain.provesAbsence
    ? new Map<string, HistoryEvidence>()
    : await historyEvidence(services, absent, budget)
  const evidenceOf = ({ row }: ExpiryCandidate) =>
    shown.get(row.signature) ?? (chain.provesAbsence ? 'absent' : undefined)
  const listed = absent.flatMap(({ row, ...each }) => {
    const status = evidenceOf({ row, ...each })
    return typeof status === 'object' ? [{ row, status }] : []
  })
  const planned = absent
    .filter((candidate) => evidenceOf(candidate) === 'absent')
    .map(({ row }) => ({
      row,
      transition: expiredTransition(row.nonce_account === null ? 'BlockhashExpired' : 'NonceAdvanced'),
    }))
  const faults = [
    ...(await writeTransitions(services, planned, { signal })),
    ...(await writeStatuses(services, listed, { slot, budget, signal })),
  ]
  const [first] = faults
  if (first === undefined) return undefined
  const now = clock.now()
  const faulty = faults.map(({ row }) => row.signature)
  const genesis = await chain.genesisHash()
  await store.write((tx) => noteChecked(tx, faulty, { now, next: now + FAULTY_ROW_WAIT_MS, slot, genesis }))
  return first.error
}
