/** Proves that transactions can land no more: their blockhash or nonce is gone at finality, and the chain does not know them. */
import {
  readBlockhashEnd,
  readFirstBlock,
  readNonceEnds,
  readStatuses,
  STATUSES_PER_CALL,
} from '../chain/statuses.ts'
import { type Followed, noteChecked } from '../store/transactions.ts'
import { FAULTY_MS } from '../store/write-each.ts'
import type { Budget } from './budget.ts'
import { type FollowServices, writeMoves } from './look.ts'
import { expiredStep } from './transition.ts'

/** Slots for which a blockhash can be used, at the least: a skipped slot does not count. */
const BLOCKHASH_SLOTS = 150
/** How far behind the node may have been that was asked first: a blockhash that it had not seen yet reads as gone. */
const LAG_SLOTS = 100
const NONCES_PER_CALL = 100
const ROUND_MS = 2_000
/** Rows that the next round begins after. */
const TURN = 97
/** Kept back: two calls for the last look, the others for sending. */
const RESERVED_CALLS = 5

interface Missing {
  row: Followed
  slot: number
}

/** Rows that may have expired; a node that lags cannot say so. */
const isOld = ({ row, slot }: Missing) =>
  row.since_slot !== null && slot >= row.since_slot + BLOCKHASH_SLOTS + LAG_SLOTS

/**
 * Looks at those of `missing` that are old enough and ends the expired ones; answers why one could not be ended. Throws
 * internal_error where the node fails.
 */
export async function expire(
  services: FollowServices,
  missing: readonly Missing[],
  budget: Budget,
  signal?: AbortSignal,
): Promise<unknown> {
  const old = inTurn(
    missing.filter(isOld).map(({ row }) => row),
    services.clock.now(),
  )
  if (old.length === 0) return undefined
  const reserved = budget.left > 2 * RESERVED_CALLS ? RESERVED_CALLS : 2
  const ended = [
    ...(await byBlockhash(services, old, budget, reserved)),
    ...(await byNonce(services, old, budget, reserved)),
  ]
  if (ended.length === 0 || budget.left < 2 || !budget.take()) return undefined
  const since = await readFirstBlock(services.chain)
  let fault: unknown
  for (let at = 0; at < ended.length && budget.take(); at += STATUSES_PER_CALL) {
    const error = await end(services, ended.slice(at, at + STATUSES_PER_CALL), since, signal)
    fault ??= error
  }
  return fault
}

/** Where there are more than a round can ask about, each comes first at some time. */
function inTurn(rows: readonly Followed[], now: number): Followed[] {
  const first = rows.length === 0 ? 0 : (Math.floor(now / ROUND_MS) * TURN) % rows.length
  return [...rows.slice(first), ...rows.slice(0, first)]
}

/** A row whose end was read at a finalized slot. */
interface Candidate {
  row: Followed
  slot: number
}

/** The first bank that could have known the blockhash is long final, and it has forgotten it. */
const isProven = (row: Followed, slot: number) => slot >= row.since_slot! + BLOCKHASH_SLOTS + LAG_SLOTS

async function byBlockhash({ chain }: FollowServices, rows: readonly Followed[], budget: Budget, reserved: number) {
  const groups = new Map<string, Followed[]>()
  for (const row of rows) {
    if (row.nonce_account !== null) continue
    groups.set(row.blockhash, [...(groups.get(row.blockhash) ?? []), row])
  }
  const candidates: Candidate[] = []
  for (const [blockhash, group] of groups) {
    if (budget.left <= reserved || !budget.take()) break
    const { slot, ended } = await readBlockhashEnd(chain, blockhash)
    if (ended[0]) candidates.push(...group.filter((row) => isProven(row, slot)).map((row) => ({ row, slot })))
  }
  return candidates
}

async function byNonce({ chain }: FollowServices, rows: readonly Followed[], budget: Budget, reserved: number) {
  const durable = rows.filter(({ nonce_account }) => nonce_account !== null)
  const candidates: Candidate[] = []
  for (let at = 0; at < durable.length; at += NONCES_PER_CALL) {
    if (budget.left <= reserved || !budget.take()) break
    const part = durable.slice(at, at + NONCES_PER_CALL)
    const { slot, ended } = await readNonceEnds(
      chain,
      part.map((row) => ({ account: row.nonce_account!, value: row.blockhash })),
    )
    candidates.push(...part.filter((row, i) => ended[i] && isProven(row, slot)).map((row) => ({ row, slot })))
  }
  return candidates
}

/**
 * The last look: it must come after the end was read, at a node that is at least as far, in a history that reaches back
 * (`since`) to before the transaction.
 */
async function end(
  services: FollowServices,
  candidates: readonly Candidate[],
  since: number,
  signal?: AbortSignal,
): Promise<unknown> {
  const { store, chain, clock } = services
  const { slot, statuses } = await readStatuses(
    chain,
    candidates.map(({ row }) => row.signature),
    true,
  )
  const gone = candidates.filter(
    (candidate, i) => statuses[i] === null && slot >= candidate.slot && since <= candidate.row.since_slot!,
  )
  const moves = gone.map(({ row }) => ({
    row,
    step: expiredStep(row.nonce_account === null ? 'BlockhashExpired' : 'NonceAdvanced'),
  }))
  const faults = await writeMoves(services, moves, { signal })
  if (faults.length === 0) return undefined
  const now = clock.now()
  const signatures = faults.map(({ row }) => row.signature)
  const genesis = await chain.genesisHash()
  await store.write((tx) => noteChecked(tx, signatures, { now, next: now + FAULTY_MS, slot, genesis }))
  return faults[0]!.error
}
