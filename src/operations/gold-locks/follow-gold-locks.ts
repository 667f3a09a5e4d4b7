/**
 * Follows gold locks after their end time: reports when one can be unlocked, and finds those that another tool
 * unlocked.
 */

import {
  type Escrow,
  isPaidOut,
  LOCKS_PER_CALL,
  type LocksAt,
  readLocks,
} from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Services } from '../../context.ts'
import type { ChainEvidence } from '../../following/chain-drafts.ts'
import { writeWithEvents } from '../../following/write-with-events.ts'
import { DAY_MS } from '../../platform/timing.ts'
import type { EventDraft } from '../../store/events/drafts.ts'
import {
  dueGoldLocks,
  type GoldLockRow,
  isAnyGoldLockLive,
  nextGoldLocks,
  planGoldLockChecks,
} from '../../store/resources/gold-locks.ts'
import type { Tx } from '../../store/store.ts'
import { FAULTY_ROW_WAIT_MS } from '../../store/writing/write-each.ts'
import { findClosing } from './find-closing.ts'
import { isStoredLock } from './on-chain.ts'
import { markGoldUnlockable, markGoldUnlocked } from './transitions.ts'

type GoldLockServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log'>

/** Interval of the rounds over gold locks. Locks that end much later are examined in one of thirty rounds. */
export const GOLD_LOCK_ROUND_MS = 10_000
const ROUNDS_PER_FAR_LOOK = 30
/**
 * Longest time that a chain's clock may be ahead of this machine's. If it is further ahead, a lock is noticed some
 * minutes late.
 */
const CHAIN_CLOCK_LEAD_MS = 600_000
/** Locks that one round reads, in ten calls. */
const LOCKS_PER_ROUND = 10 * LOCKS_PER_CALL
/** Ended locks that one round examines. Each takes some calls. */
const ENDED_PER_ROUND = 10
/** A lock that can be unlocked is examined again after a quarter of its waiting time, within these limits. */
const LEAST_GOLD_LOCK_WAIT_MS = 600_000
export const LONGEST_GOLD_LOCK_WAIT_MS = DAY_MS

/**
 * Runs one round over the locks that are due. Throws internal_error when the node fails, and at the end the first
 * error of a lock. A failed lock is due again and does not stop the others.
 */
export async function followGoldLocks(services: GoldLockServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock } = services
  if (!(await isAnyGoldLockLive(store.db))) return
  const genesis = await chain.genesisHash()
  const now = clock.now()
  const next = await nextGoldLocks(store.db, genesis)
  if (!isTimeToLook(next, now, chain.cluster.kind === 'embedded')) return
  const { at } = await readLocks(chain, [])
  const rows = await dueGoldLocks(store.db, {
    genesis,
    chainNow: at.unixSeconds * 1000,
    now,
    limit: LOCKS_PER_ROUND,
  })
  const budget = { ended: ENDED_PER_ROUND }
  let fault: unknown
  for (let from = 0; from < rows.length; from += LOCKS_PER_CALL) {
    signal?.throwIfAborted()
    const part = rows.slice(from, from + LOCKS_PER_CALL)
    const reading = await readLocks(
      chain,
      part.map(({ escrow }) => escrow),
    )
    const error = await followLocks(services, part, reading, budget, signal)
    fault ??= error
  }
  if (fault !== undefined) throw fault
}

/** The clock of a test chain can be moved ahead at any time, and reading the embedded one is free. */
function isTimeToLook(
  { unlocks_at, next_check_at }: Awaited<ReturnType<typeof nextGoldLocks>>,
  now: number,
  isEmbedded: boolean,
): boolean {
  if (next_check_at !== null && next_check_at <= now) return true
  if (unlocks_at === null) return false
  return (
    isEmbedded ||
    unlocks_at <= now + CHAIN_CLOCK_LEAD_MS ||
    Math.floor(now / GOLD_LOCK_ROUND_MS) % ROUNDS_PER_FAR_LOOK === 0
  )
}

/** The change that is to be written about one lock. */
type GoldLockStep =
  | { row: GoldLockRow; kind: 'unlockable' | 'unchanged'; next: number }
  | { row: GoldLockRow; kind: 'unlocked'; evidence: ChainEvidence }

/** Returns the first error of a lock that could not be followed. */
async function followLocks(
  services: GoldLockServices,
  rows: readonly GoldLockRow[],
  { escrows, at }: LocksAt,
  budget: { ended: number },
  signal?: AbortSignal,
): Promise<unknown> {
  const { store, clock, log } = services
  const steps: GoldLockStep[] = []
  for (const [i, row] of rows.entries()) {
    const step = await goldLockStep(services, row, escrows[i] ?? null, at, budget)
    if (step !== null) steps.push(step)
  }
  const writeAll = async (tx: Tx, part: readonly GoldLockStep[]) => {
    const drafts: EventDraft[] = []
    for (const step of part) {
      const { row } = step
      if (step.kind === 'unlocked') drafts.push(...(await markGoldUnlocked(tx, row, step.evidence)))
      if (step.kind === 'unlockable') drafts.push(...(await markGoldUnlockable(tx, row, { slot: at.slot }, step.next)))
    }
    const unchanged = part.flatMap((step) =>
      step.kind === 'unchanged' ? [{ seq: step.row.seq, next: step.next }] : [],
    )
    await planGoldLockChecks(tx, unchanged)
    return drafts
  }
  const faults = await writeWithEvents(services, steps, writeAll, signal)
  const [first] = faults
  if (first === undefined) return undefined
  for (const { row, error } of faults)
    log.error({ err: error, user: row.row.user }, 'a gold lock could not be followed')
  const next = clock.now() + FAULTY_ROW_WAIT_MS
  await store.write((tx) =>
    planGoldLockChecks(
      tx,
      faults.map(({ row: { row } }) => ({ seq: row.seq, next })),
    ),
  )
  return first.error
}

/**
 * Returns null for a lock that is left to a later round: its end time has not come on this node, or the round has
 * reached its limit.
 */
async function goldLockStep(
  { chain, clock, log }: GoldLockServices,
  row: GoldLockRow,
  escrow: Escrow | null,
  at: ChainTime,
  budget: { ended: number },
): Promise<GoldLockStep | null> {
  const waited = at.unixSeconds * 1000 - row.unlocks_at
  if (waited < 0) return null
  if (escrow === null || !isStoredLock(escrow, row)) {
    if (budget.ended-- <= 0) return null
    try {
      const closing = await findClosing(chain, row)
      return { row, kind: 'unlocked', evidence: closing ?? { slot: at.slot } }
    } catch (error) {
      log.warn({ err: error, user: row.user }, 'could not read how a gold lock ended')
      return null
    }
  }
  if (isPaidOut(escrow)) return { row, kind: 'unlocked', evidence: { slot: at.slot } }
  const next = clock.now() + Math.min(LONGEST_GOLD_LOCK_WAIT_MS, Math.max(LEAST_GOLD_LOCK_WAIT_MS, waited / 4))
  return { row, kind: row.status === 'locked' ? 'unlockable' : 'unchanged', next: Math.floor(next) }
}
