/** Follows gold locks past their time: tells when one can be unlocked, and notices those that ended unseen. */

import type { ChainMoment } from '../../chain/chain-clock.ts'
import {
  type Escrow,
  isPaidOut,
  LOCKS_PER_CALL,
  type LocksAt,
  readLocks,
} from '../../chain/programs/jupiter-lock/index.ts'
import type { Services } from '../../context.ts'
import { dueGoldLocks, isAnyGoldLockLive, nextGoldLocks, planGoldLockChecks } from '../../store/gold-locks.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { DAY_MS } from '../../timing.ts'
import { emitAll, type LateEmission } from '../emit.ts'
import { FAULTY_MS, writeEach } from '../write-each.ts'
import { findClosing } from './find-closing.ts'
import { isStoredLock } from './on-chain.ts'
import { markUnlockable, markUnlocked, type Seen } from './transitions.ts'

type GoldLockServices = Pick<Services, 'store' | 'chain' | 'clock' | 'log'>
type GoldLockRow = Row<'gold_locks'>

/** How often it is followed; what is far ahead is looked at in one round of thirty. */
export const ROUND_MS = 10_000
const FAR_ROUNDS = 30
/** A chain's clock may be ahead of this machine's by so much at most, or it is noticed some minutes late. */
const NEAR_MS = 600_000
/** Locks of one round: ten calls. */
const MOST_LOCKS = 10 * LOCKS_PER_CALL
/** Ended ones of one round, each of which takes some calls. */
const MOST_ENDED = 10
/** One that can be unlocked is looked at after a quarter of the time that it has waited, within these bounds. */
const LEAST_WAIT_MS = 600_000
export const MOST_WAIT_MS = DAY_MS

/**
 * One round over the locks whose time has come. Throws internal_error where the node fails, and at its end what a lock could
 * not be followed for: it is due again, and never stops the others.
 */
export async function followGoldLocks(services: GoldLockServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock } = services
  if (!(await isAnyGoldLockLive(store.db))) return
  const genesis = await chain.genesisHash()
  const now = clock.now()
  const next = await nextGoldLocks(store.db, genesis)
  if (!isTimeToLook(next, now, chain.cluster.kind === 'embedded')) return
  const connection = await chain.connection()
  const { at } = await readLocks(connection, [])
  const rows = await dueGoldLocks(store.db, {
    genesis,
    chainNow: at.unixSeconds * 1000,
    now,
    limit: MOST_LOCKS,
  })
  const budget = { ended: MOST_ENDED }
  let fault: unknown
  for (let from = 0; from < rows.length; from += LOCKS_PER_CALL) {
    signal?.throwIfAborted()
    const part = rows.slice(from, from + LOCKS_PER_CALL)
    const found = await readLocks(
      connection,
      part.map(({ escrow }) => escrow),
    )
    const error = await followPart(services, part, found, budget, signal)
    fault ??= error
  }
  if (fault !== undefined) throw fault
}

/** The clock of a test chain can be moved ahead at any time; asking the embedded one costs nothing. */
function isTimeToLook(
  { unlocks_at, next_check_at }: Awaited<ReturnType<typeof nextGoldLocks>>,
  now: number,
  isEmbedded: boolean,
): boolean {
  if (next_check_at !== null && next_check_at <= now) return true
  if (unlocks_at === null) return false
  return isEmbedded || unlocks_at <= now + NEAR_MS || Math.floor(now / ROUND_MS) % FAR_ROUNDS === 0
}

/** What is to be written about one of them. */
type Step =
  | { row: GoldLockRow; kind: 'unlockable' | 'again'; next: number }
  | { row: GoldLockRow; kind: 'unlocked'; seen: Seen }

/** Answers why the first of those that could not be followed could not be. */
async function followPart(
  services: GoldLockServices,
  rows: readonly GoldLockRow[],
  { escrows, at }: LocksAt,
  budget: { ended: number },
  signal?: AbortSignal,
): Promise<unknown> {
  const { store, clock, log } = services
  const steps: Step[] = []
  for (const [i, row] of rows.entries()) {
    const step = await stepOf(services, row, escrows[i] ?? null, at, budget)
    if (step !== null) steps.push(step)
  }
  const writeAll = async (tx: Tx, part: readonly Step[]) => {
    const told: LateEmission[] = []
    for (const step of part) {
      const { row } = step
      if (step.kind === 'unlocked') told.push(...(await markUnlocked(tx, row, step.seen)))
      if (step.kind === 'unlockable') told.push(...(await markUnlockable(tx, row, { slot: at.slot }, step.next)))
    }
    const again = part.flatMap((step) => (step.kind === 'again' ? [{ seq: step.row.seq, next: step.next }] : []))
    await planGoldLockChecks(tx, again)
    await emitAll(tx, clock, told)
  }
  const faults = await writeEach(store, steps, writeAll, signal)
  if (faults.length === 0) return undefined
  for (const { row, error } of faults)
    log.error({ err: error, user: row.row.user }, 'a gold lock could not be followed')
  const next = clock.now() + FAULTY_MS
  await store.write((tx) =>
    planGoldLockChecks(
      tx,
      faults.map(({ row: { row } }) => ({ seq: row.seq, next })),
    ),
  )
  return faults[0]!.error
}

/** Null where it is for a later round: its time has not come by this node, or the round has done enough. */
async function stepOf(
  { chain, clock, log }: GoldLockServices,
  row: GoldLockRow,
  escrow: Escrow | null,
  at: ChainMoment,
  budget: { ended: number },
): Promise<Step | null> {
  const waited = at.unixSeconds * 1000 - row.unlocks_at
  if (waited < 0) return null
  if (escrow === null || !isStoredLock(escrow, row)) {
    if (budget.ended-- <= 0) return null
    try {
      const closing = await findClosing(chain, row)
      return { row, kind: 'unlocked', seen: closing ?? { slot: at.slot } }
    } catch (error) {
      log.warn({ err: error, user: row.user }, 'how a gold lock ended could not be read')
      return null
    }
  }
  if (isPaidOut(escrow)) return { row, kind: 'unlocked', seen: { slot: at.slot } }
  const next = clock.now() + Math.min(MOST_WAIT_MS, Math.max(LEAST_WAIT_MS, waited / 4))
  return { row, kind: row.status === 'locked' ? 'unlockable' : 'again', next: Math.floor(next) }
}
