/**
 * Ends transactions that can no longer land: their blockhash or nonce has expired at finality, and two nodes, the embedded
 * chain or a history show that they are in no block. The word of one node proves nothing.
 */
import {
  type Ended,
  readBlockhashEnd,
  readFirstBlock,
  readNonceEnds,
  readStatuses,
  STATUSES_PER_CALL,
} from '../chain/reads/statuses.ts'
import { ENDED_BLOCKHASH_SLOTS } from '../solana/constants.ts'
import { type FollowedTransaction, noteChecked } from '../store/transactions/transactions.ts'
import { FAULTY_ROW_WAIT_MS } from '../store/writing/write-each.ts'
import { type Budget, takeCalls } from './budget.ts'
import { type HistoryEvidence, historyEvidence } from './history-evidence.ts'
import { type MissingTransaction, writeStatuses } from './look.ts'
import { rotated } from './schedule.ts'
import type { FollowingServices } from './services.ts'
import { expiredTransition } from './transition.ts'
import { writeTransitions } from './write-transitions.ts'

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
export async function endExpired(
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
