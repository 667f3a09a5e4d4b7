/**
 * Runs a round of reconciliation with the chain: chooses accounts, checks them, reads new transactions and checks their
 * finality.
 */

import { createHash } from 'node:crypto'
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { SIGNATURES_PER_CALL } from '../../chain/reads/history.ts'
import { accountsAtSlot } from '../../chain/reads/node-reads.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import {
  beginWithNothing,
  countAccounts,
  dueAccounts,
  type FollowedAccount,
  followMissing,
  HOLDING_KIND,
  postponeQuiet,
} from '../../store/following/followed-accounts.ts'
import { type Budget, createBudget } from '../budget.ts'
import type { FollowedData } from '../projection.ts'
import type { FollowingServices } from '../services.ts'
import { firstSlot } from './beginning.ts'
import { lookAtFinality } from './finality.ts'
import { beginAgain, type ListingOptions, listAccount } from './listing.ts'
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

/** Number of slots before a confirmed reading that a fork can still change. Listings need not go further back. */
const SETTLED_SLOTS = 150
/** The node counts as failed after this many accounts in a row that cannot be listed. */
const MOST_FAULTS = 3
const FAULTY_LOOK_MS = MINUTE_MS

interface LooksOptions {
  genesis: string
  budget: Budget
  callsPerMinute: number
  pageSize: number
  signal?: AbortSignal | undefined
}

type AccountToList = { account: FollowedAccount; stateHash?: string; slot?: number }

/** Takes calls from the budget until nothing is due. Throws internal_error when the node fails. */
async function lookAtAccounts(services: FollowingServices, options: LooksOptions): Promise<void> {
  const counts = await countAccounts(services.store.db, options.genesis)
  const { db } = services.store
  const { genesis, budget } = options
  const now = services.clock.now()
  const due = (watch: 'state' | 'history', limit: number) => dueAccounts(db, { genesis, watch, now, limit })
  const states = await due('state', budget.left * STATES_PER_CALL)
  const toList: AccountToList[] = (await due('history', budget.left)).map((account) => ({ account }))
  for (let at = 0; at < states.length && budget.take(); at += STATES_PER_CALL) {
    options.signal?.throwIfAborted()
    toList.push(...(await changedAmong(services, states.slice(at, at + STATES_PER_CALL), counts, options)))
  }
  // Anyone can give the platform wallet an account with a long history. Such accounts come last, so that they delay no
  // other.
  toList.sort((a, b) => Number(a.account.kind === HOLDING_KIND) - Number(b.account.kind === HOLDING_KIND))
  await listAll(services, toList, counts, options)
}

/** Returns the accounts whose data has changed, and plans the next check of the others. */
async function changedAmong(
  services: FollowingServices,
  accounts: readonly FollowedAccount[],
  counts: FollowedCounts,
  { callsPerMinute }: LooksOptions,
): Promise<AccountToList[]> {
  const { chain, store, clock } = services
  const addresses = accounts.map(({ address }) => address)
  const read = await askNode('Reading followed accounts', () => accountsAtSlot(chain, addresses))
  if (read.accounts.length !== accounts.length) throw new Error('the node answers with other accounts')
  const { slot } = read
  const changed: AccountToList[] = []
  const quiet = new Map<number, number[]>()
  const begun: number[] = []
  for (const [i, account] of accounts.entries()) {
    const stateHash = stateHashOf(services, account, read.accounts[i] ?? null)
    const isBegun = account.history_of !== null && account.state_hash === null && stateHash === NOTHING
    if (isBegun) begun.push(account.seq)
    else if (stateHash !== account.state_hash || account.before_signature !== null) {
      changed.push({ account, stateHash, slot })
      continue
    }
    const wait = lookIntervalOf('state', account.quiet + 1, { counts, callsPerMinute })
    quiet.set(wait, [...(quiet.get(wait) ?? []), account.seq])
  }
  const now = clock.now()
  await store.write(async (tx) => {
    await beginWithNothing(tx, begun, NOTHING)
    for (const [wait, seqs] of quiet) {
      await postponeQuiet(tx, seqs, { next: now + wait, provenTo: slot - SETTLED_SLOTS })
    }
  })
  return changed
}

/** Stored in place of the hash for an account that does not exist or has no history yet. */
const NOTHING = ''

/** The hash of the part that the projection names, or of owner and data. */
function stateHashOf(
  { projections }: FollowingServices,
  { kind, history_of }: FollowedAccount,
  account: FollowedData,
): string {
  for (const projection of projections) {
    const part = projection.followedPart?.(account, { kind, history_of })
    if (part !== undefined) return part === null ? NOTHING : createHash('sha256').update(part).digest('hex')
  }
  return account === null ? NOTHING : createHash('sha256').update(account.owner).update(account.data).digest('hex')
}

/** If an account cannot be listed, it is checked again later and does not stop the others. */
async function listAll(
  services: FollowingServices,
  toList: readonly AccountToList[],
  counts: FollowedCounts,
  { genesis, budget, callsPerMinute, pageSize, signal }: LooksOptions,
): Promise<void> {
  let faults = 0
  for (const { account, stateHash, slot } of toList) {
    signal?.throwIfAborted()
    if (budget.left === 0) return
    const { watch } = account
    const interval = (quiet: number) =>
      lookIntervalOf(watch === 'state' ? 'state' : 'history', quiet, { counts, callsPerMinute })
    const options: ListingOptions = {
      genesis,
      budget,
      signal,
      pageSize,
      quietWaitMs: interval,
      busyWaitMs: interval(0),
      ...(stateHash === undefined ? {} : { stateHash }),
      ...(slot === undefined ? {} : { slot }),
    }
    try {
      await listAccount(services, account, options)
      faults = 0
    } catch (error) {
      if (signal?.aborted || ++faults >= MOST_FAULTS) throw error
      services.log.warn({ err: error, address: account.address }, 'the history of a followed account was not listed')
      // The node may not know the signature at which the listing continues.
      await beginAgain(services, account, FAULTY_LOOK_MS)
    }
  }
}

// Computes when a followed account is checked next: often while it is active, rarely while it is quiet.

interface FollowedCounts {
  state: number
  history: number
}

/** Shortest time between two checks of an account. */
const BUSY_LOOK_MS = 5 * SECOND_MS
/** Longest time between two looks if there are enough calls. */
const QUIET_LOOK_MS = { state: 20 * SECOND_MS, history: 30 * SECOND_MS } as const
/** Number of accounts that one call reads. */
const STATES_PER_CALL = 100
/** Longest time between two looks. Beyond it, due accounts wait for their turn. */
const LONGEST_INTERVAL_MS = HOUR_MS
/** Shares of the calls per minute for checks of quiet accounts; the remaining calls are for active ones. */
const QUIET_SHARE = { state: 0.1, history: 0.4 } as const

/** Returns the milliseconds until the next check of an account after `quiet` checks in a row without news. */
export function lookIntervalOf(
  watch: 'state' | 'history',
  quiet: number,
  { counts, callsPerMinute }: { counts: FollowedCounts; callsPerMinute: number },
): number {
  const calls = watch === 'state' ? Math.ceil(counts.state / STATES_PER_CALL) : counts.history
  const affordable = (calls / (callsPerMinute * QUIET_SHARE[watch])) * MINUTE_MS
  const longest = Math.min(LONGEST_INTERVAL_MS, Math.max(QUIET_LOOK_MS[watch], affordable))
  return Math.min(longest, BUSY_LOOK_MS * 2 ** Math.min(quiet, 20))
}
