/**
 * Follows gold locks after their end time: reports when one can be unlocked, and finds those that another tool
 * unlocked.
 */
import type { Chain } from '../../chain/connection.ts'
import { NodeRefusal } from '../../chain/nodes/node-call.ts'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { type Escrow, LOCKS_PER_CALL, lockChangesIn, readLocks } from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Services } from '../../context.ts'
import { type Budget, createBudget } from '../../following/budget.ts'
import type { ChainEvidence } from '../../following/chain-drafts.ts'
import { type Follower, follow } from '../../following/follower.ts'
import { internal } from '../../platform/errors.ts'
import { DAY_MS } from '../../platform/timing.ts'
import { isPaidOut } from '../../solana/lock-schedule.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import {
  dueGoldLocks,
  type GoldLockRow,
  isAnyGoldLockLive,
  nextGoldLocks,
  planGoldLockCheck,
} from '../../store/resources/gold-locks.ts'
import { markGoldUnlockable, markGoldUnlocked } from './projection.ts'
import { isStoredLock } from './verbs.ts'

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

/** Runs one round over the locks that are due. Throws as `follow` does. */
export function followGoldLocks(services: GoldLockServices, signal?: AbortSignal): Promise<void> {
  const { store, chain, clock } = services
  const endings = createBudget(ENDED_PER_ROUND)
  const rounds: Follower<GoldLockRow, GoldLockReading, GoldLockStep> = {
    named: ({ user }) => ({ gold_lock: user }),
    async due() {
      if (!(await isAnyGoldLockLive(store.db))) return []
      const genesis = await chain.genesisHash()
      const now = clock.now()
      const next = await nextGoldLocks(store.db, genesis)
      if (!isTimeToLook(next, now, chain.cluster.kind === 'embedded')) return []
      const { at } = await readLocks(chain, [])
      return dueGoldLocks(store.db, { genesis, chainNow: at.unixSeconds * 1000, now, limit: LOCKS_PER_ROUND })
    },
    perRead: LOCKS_PER_CALL,
    async read(rows) {
      const addresses = rows.map(({ escrow }) => escrow)
      const { escrows, at } = await readLocks(chain, addresses)
      return rows.map((_, i) => ({ escrow: escrows[i] ?? null, at }))
    },
    decide: (row, reading) => goldLockStep(services, row, reading, endings),
    async write(tx, row, step) {
      if (step.kind === 'unlocked') return markGoldUnlocked(tx, row, step.evidence)
      if (step.kind === 'unlockable') return markGoldUnlockable(tx, row, step.evidence, step.next)
      await planGoldLockCheck(tx, row, step.next)
      return []
    },
    postpone: planGoldLockCheck,
  }
  return follow(services, rounds, signal)
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

interface GoldLockReading {
  escrow: Escrow | null
  at: ChainTime
}

type GoldLockStep =
  | { kind: 'unchanged'; next: number }
  | { kind: 'unlockable'; next: number; evidence: ChainEvidence }
  | { kind: 'unlocked'; evidence: ChainEvidence }

/**
 * Returns null for a lock that is left to a later round: its end time has not come on this node, or the round has
 * reached its limit.
 */
async function goldLockStep(
  { chain, clock, log }: GoldLockServices,
  row: GoldLockRow,
  { escrow, at }: GoldLockReading,
  endings: Budget,
): Promise<GoldLockStep | null> {
  const waited = at.unixSeconds * 1000 - row.unlocks_at
  if (waited < 0) return null
  const evidence = { slot: at.slot }
  if (escrow === null || !isStoredLock(escrow, row)) {
    if (!endings.take()) return null
    try {
      return { kind: 'unlocked', evidence: (await findClosing(chain, row)) ?? evidence }
    } catch (error) {
      log.warn({ err: error, user: row.user }, 'could not read how a gold lock ended')
      // It waits, so that it does not take the place of others in every round; not long, because a node may fail once.
      return { kind: 'unchanged', next: clock.now() + LEAST_GOLD_LOCK_WAIT_MS }
    }
  }
  if (isPaidOut(escrow)) return { kind: 'unlocked', evidence }
  const wait = Math.min(LONGEST_GOLD_LOCK_WAIT_MS, Math.max(LEAST_GOLD_LOCK_WAIT_MS, waited / 4))
  const next = Math.floor(clock.now() + wait)
  return row.status === 'locked' ? { kind: 'unlockable', next, evidence } : { kind: 'unchanged', next }
}

/** Transactions that are examined, newest first. Few others concern a lock. */
const CLOSINGS_LOOKED_INTO = 5
const SIGNATURES_LISTED = 25
/** Error codes of nodes without this history: method not found, and codes of Agave. */
const WITHOUT_HISTORY = [-32601, -32010, -32011]
/** Agave's code for a transaction of a later version than the client reads. */
const UNSUPPORTED_VERSION = -32015
/** Latest version that `decodeWireTransaction` reads. */
const READ_VERSION = 1

interface ListedSignature {
  signature: string
  slot: number
  err: unknown
}

/**
 * Finds the transaction that closed a lock, so that its event is the same whoever observes it first.
 * Returns null if none of the latest transactions closed it by its own instruction. Throws internal_error when the
 * node fails, and if no readable transaction closed it but one has an unreadable version.
 */
async function findClosing(
  chain: Chain,
  { escrow, slot }: Pick<GoldLockRow, 'escrow' | 'slot'>,
): Promise<ChainEvidence | null> {
  const options = { limit: SIGNATURES_LISTED, commitment: 'confirmed' }
  const listed = await askHistory<ListedSignature[]>(chain, 'getSignaturesForAddress', [escrow, options])
  if (!Array.isArray(listed)) return null
  const later = listed.filter((each) => each.err === null && each.slot > slot)
  // The oldest one counts, because newer ones belong to later locks.
  const unread: string[] = []
  for (const { slot, signature } of later.slice(-CLOSINGS_LOOKED_INTO).reverse()) {
    const isClosing = await closes(chain, signature, escrow)
    if (isClosing === true) return { slot: Number(slot), signature }
    if (isClosing === null) unread.push(signature)
  }
  if (unread.length === 0) return null
  throw internal(
    `The transaction that closed the lock ${escrow} is not known: ${unread.join(', ')} has a later version than ${READ_VERSION}, which this svc cannot read; update svc`,
  )
}

/** Returns null for a transaction of a version that the node does not show to this client. */
async function closes(chain: Chain, signature: string, escrow: string): Promise<boolean | null> {
  const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: READ_VERSION }
  let found: { transaction?: [string]; meta?: { err?: unknown } | null } | null
  try {
    found = await askHistory(chain, 'getTransaction', [signature, options])
  } catch (error) {
    const { cause } = error as Error
    if (cause instanceof NodeRefusal && cause.code === UNSUPPORTED_VERSION) return null
    throw error
  }
  const bytes = found?.transaction?.[0]
  // A transaction in a block that failed, or was not executed at all (SIMD-0290), closed nothing.
  if (typeof bytes !== 'string' || (found?.meta?.err ?? null) !== null) return false
  const shown = decodeWireTransaction(Buffer.from(bytes, 'base64'))
  if (shown.signature !== signature) throw internal(`The RPC node answered with another transaction than ${signature}`)
  return lockChangesIn(shown.message).some((change) => change.kind === 'closed' && change.escrow === escrow)
}

/** Returns null when the node has no such history. Temporary errors are thrown. */
function askHistory<T>(chain: Chain, method: string, params: readonly unknown[]): Promise<T | null> {
  return askNode('Reading the transactions of a gold lock', async () => {
    try {
      return await chain.call<T | null>(method, params)
    } catch (error) {
      if (error instanceof NodeRefusal && WITHOUT_HISTORY.includes(error.code)) return null
      throw error
    }
  })
}
