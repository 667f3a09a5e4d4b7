/** Lists a followed account's history page by page, from its newest transaction back to the last listing, over as many rounds as needed. */
import { type ListedSignature, type ListOptions, listSignatures } from '../../chain/reads/history.ts'
import { readFirstBlock } from '../../chain/reads/statuses.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { insertFound, releaseListed } from '../../store/following/chain-transactions.ts'
import {
  type AccountMove,
  type FollowedAccount,
  moveAccount,
  planLook,
} from '../../store/following/followed-accounts.ts'
import type { Budget } from '../budget.ts'
import type { FollowingServices } from '../services.ts'
import { awaitedHash, awaitedSlot, hashAfter } from './state-hashes.ts'
import { MOST_WALLET_PAGES, signaturesToRead } from './wallet-listing.ts'

/** Wait until the operator configures a node with enough history. */
const SHORT_HISTORY_WAIT_MS = 10 * MINUTE_MS

/** Repeated listings that wait for a node whose signature index lags behind its accounts. */
const TRIES_FOR_ANOTHER = 3

export interface ListingOptions {
  genesis: string
  budget: Budget
  /** Milliseconds until the next look when a look finds nothing. */
  quietWaitMs(quiet: number): number
  busyWaitMs: number
  /** Signatures in one call. */
  pageSize: number
  /** SHA-256 of the account's data as just read, for accounts that are listed when their data changes. */
  stateHash?: string
  /** Slot of that reading, which the node must have reached. */
  slot?: number
  signal?: AbortSignal | undefined
}

/**
 * Lists until there is no gap or the budget is used up; the next round continues. Transactions are released for
 * reading only at the end, because the oldest comes last and must be read first. Throws internal_error when the node
 * fails.
 */
export async function listAccount(
  services: FollowingServices,
  account: FollowedAccount,
  options: ListingOptions,
): Promise<void> {
  let at: FollowedAccount | null = account
  while (at !== null && options.budget.take()) {
    options.signal?.throwIfAborted()
    const { before_signature, seen_signature, head_slot } = at
    const request = {
      before: before_signature ?? undefined,
      until: seen_signature ?? undefined,
      minSlot: head_slot ?? options.slot,
      limit: options.pageSize,
    }
    const page = await listSignatures(services.chain, listedOf(at), request)
    const proven = isShort(at, page, options) ? await reachingPage(services, at, { page, request, options }) : page
    if (proven === null) return beginAgain(services, at, SHORT_HISTORY_WAIT_MS)
    at = await writePage(services, at, proven, options)
  }
}

/** The account whose history shows the changes of the followed one. */
export const listedOf = ({ address, history_of }: Pick<FollowedAccount, 'address' | 'history_of'>): string =>
  history_of ?? address

/** Restarts a listing later that cannot continue. */
export async function beginAgain(
  { store, clock }: FollowingServices,
  account: FollowedAccount,
  wait: number,
): Promise<void> {
  const next = clock.now() + wait
  await store.write(async (tx) => {
    if (account.before_signature === null) return planLook(tx, account.seq, next)
    const again = { before_signature: null, head_slot: null, head_signature: null, listed: 0, next_look_at: next }
    await moveAccount(tx, account, again)
  })
}

/**
 * Whether the page ends without reaching the last listing and would move the account's place. A node with a short
 * history answers as if nothing happened before it.
 */
const isShort = (
  { seen_slot, before_signature }: FollowedAccount,
  page: readonly ListedSignature[],
  { pageSize }: ListingOptions,
): boolean =>
  seen_slot > 0 &&
  page.length < pageSize &&
  page.every(({ slot }) => slot >= seen_slot) &&
  (page.length > 0 || before_signature !== null)

/**
 * Returns the page of a node whose history begins before the gap, or null if there is none. For an account that was
 * never listed the gap is only logged, because the account may be younger. The calls are made even if the budget is
 * used up, which happens once in a round.
 */
async function reachingPage(
  { chain, log }: FollowingServices,
  account: FollowedAccount,
  { page, request, options }: { page: ListedSignature[]; request: ListOptions; options: ListingOptions },
): Promise<ListedSignature[] | null> {
  const { seen_slot, seen_signature, state_hash, before_signature } = account
  const address = listedOf(account)
  const isFirst = seen_signature === null && state_hash === null
  if (isFirst && before_signature === null) return page
  options.budget.take()
  const pages: ListedSignature[][] = []
  const starts: number[] = []
  // One endpoint is enough, if the page and the start of the history both come from it.
  await chain.witnesses(async (node) => {
    const own = chain.hasSeveralEndpoints ? await listSignatures(node, address, request) : page
    const start = await readFirstBlock(node)
    starts.push(start)
    if (start <= seen_slot) pages.push(own)
  })
  const [first] = pages
  if (first !== undefined) return first
  const where = { address, from: seen_slot, to: starts.length === 0 ? null : Math.min(...starts) }
  if (isFirst) {
    log.warn(where, 'the node has no history of these slots: what happened in them is not reported')
    return page
  }
  log.error(
    where,
    'no node has the history of these slots: the account waits until rpc-url or rpc-urls names one that has',
  )
  return null
}

/** Returns the account with its new place, or null at the end of its listing or when another process is ahead. */
async function writePage(
  services: FollowingServices,
  account: FollowedAccount,
  page: readonly ListedSignature[],
  options: ListingOptions,
): Promise<FollowedAccount | null> {
  const { store, clock, log, booked } = services
  const { genesis, quietWaitMs, busyWaitMs, pageSize } = options
  const now = clock.now()
  const { address, seen_slot, history_of } = account
  // If a node does not know the last signature because its fork was dropped, its list continues past it.
  const isNew = ({ slot }: ListedSignature) => slot >= seen_slot
  const fresh = page.filter(isNew)
  const last = fresh.at(-1)
  const toRead = history_of === null ? undefined : await signaturesToRead(services, account, fresh, options)
  const isLast = page.length < pageSize || fresh.length < page.length || last === undefined
  const isTooLong = history_of !== null && !isLast && account.listed + fresh.length >= MOST_WALLET_PAGES * pageSize
  const isGivenUp = toRead === null || isTooLong
  const isEnd = isLast || isGivenUp
  // A failed transaction changes no record, but it cost its network fee.
  const isBooked = booked?.has(address) === true
  const isFound = ({ signature, isFailed }: ListedSignature) =>
    toRead === undefined ? isBooked || !isFailed : toRead?.has(signature) === true
  const found = fresh.flatMap((each, i) =>
    isFound(each) ? [{ signature: each.signature, slot: each.slot, place: account.listed + i }] : [],
  )
  // The history counts as known up to the newest final transaction. Newer ones are listed again until they are final
  // or gone.
  const final = account.head_signature === null ? fresh.find(({ isFinal }) => isFinal) : undefined
  const head = {
    head_slot: final?.slot ?? account.head_slot,
    head_signature: final?.signature ?? account.head_signature,
  }
  const move: AccountMove = isEnd
    ? endOf(account, head, {
        isQuiet: fresh.length === 0 && account.listed === 0,
        next: (quiet) => now + (quiet === 0 ? busyWaitMs : quietWaitMs(quiet)),
      })
    : { ...head, before_signature: last?.signature, listed: account.listed + fresh.length, next_look_at: now }
  if (isGivenUp) {
    const where = { address, wallet: history_of, from: seen_slot, to: (isTooLong ? last : fresh[0])?.slot }
    log.error(where, 'the wallet is too active: its claims in these slots are not searched for')
  }
  const newest = history_of === null ? fresh[0] : fresh.find(isFound)
  const listing = { isEnd, isGivenUp, isFinal: newest?.isFinal ?? true, isListed: found.length > 0 }
  const planned = { ...move, ...(isEnd ? hashMove(services, account, move, { ...options, ...listing }) : {}) }
  const isMoved = await store.write(async (tx) => {
    if (!(await moveAccount(tx, account, planned))) return false
    if (found.length > 0) await insertFound(tx, found, account, now)
    if (isEnd) await releaseListed(tx, genesis, address)
    return true
  })
  return isEnd || !isMoved ? null : { ...account, ...move }
}

interface EndOfListing extends ListingOptions {
  isGivenUp: boolean
  /** Whether the newest transaction that may have changed the account is final. */
  isFinal: boolean
  /** Whether the last page has a transaction that may have changed the account. */
  isListed: boolean
}

/** Computes the stored hash at the end of a listing, and the time of the next look if the change is unexplained. */
function hashMove(
  { clock, log }: FollowingServices,
  { address, seen_slot, state_hash, history_of, listed, before_signature }: FollowedAccount,
  { seen_slot: knownTo = seen_slot, seen_signature }: AccountMove,
  { stateHash, slot = 0, quietWaitMs, isGivenUp, isFinal, ...end }: EndOfListing,
): AccountMove {
  if (stateHash === undefined) return {}
  const awaited = history_of === null ? null : awaitedSlot(state_hash, stateHash)
  if (isGivenUp || (awaited !== null && knownTo >= awaited)) return { state_hash: stateHash }
  const isListed = end.isListed || listed > 0
  if (before_signature === null && isFinal) {
    // A launch curve may change without any action of the wallet that is listed for it.
    const most = history_of === null ? undefined : TRIES_FOR_ANOTHER
    const { stored, tries, isGivenUp: isUnexplained } = hashAfter(state_hash, stateHash, isListed, most)
    if (isUnexplained && history_of === null)
      log.error({ address, slot: seen_slot }, 'an account changed, and no transaction that did it was listed')
    return { state_hash: stored, ...(tries > 0 ? { next_look_at: clock.now() + quietWaitMs(tries) } : {}) }
  }
  if (!isListed) return {}
  // The next listing explains this change once all is final. If the account has no place yet, the next listing still
  // counts as the first.
  const isFirst = state_hash === null && (seen_signature ?? null) === null
  return { state_hash: history_of === null || isFirst ? null : awaitedHash(state_hash, stateHash, slot) }
}

function endOf(
  { seen_slot, seen_signature, quiet }: FollowedAccount,
  { head_slot, head_signature }: Pick<FollowedAccount, 'head_slot' | 'head_signature'>,
  { isQuiet, next }: { isQuiet: boolean; next(quiet: number): number },
): AccountMove {
  const quietNow = isQuiet ? quiet + 1 : 0
  return {
    seen_slot: head_slot ?? seen_slot,
    seen_signature: head_signature ?? seen_signature,
    head_slot: null,
    head_signature: null,
    before_signature: null,
    listed: 0,
    quiet: quietNow,
    next_look_at: next(quietNow),
  }
}
