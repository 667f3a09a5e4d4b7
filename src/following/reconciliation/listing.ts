/** Lists a followed account's history page by page, from its newest transaction back to the last listing, over as many rounds as needed. */
import { type ListedSignature, type ListOptions, listSignatures } from '../../chain/reads/history.ts'
import { readFirstBlock } from '../../chain/reads/statuses.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { type FoundTransaction, insertFound, releaseListed } from '../../store/following/chain-transactions.ts'
import {
  type AccountMove,
  type FollowedAccount,
  moveAccount,
  planLook,
} from '../../store/following/followed-accounts.ts'
import type { Budget } from '../budget.ts'
import type { FollowingServices } from '../services.ts'

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
 * Whether the page ends before the last listing, although it would move the account on. A node with a short history
 * answers as if nothing happened before it.
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
 * never listed the gap is only logged, because the account may be younger. These calls may exceed the budget, once in a
 * round.
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

/** What a page means for its listing. */
interface ExaminedPage {
  /**
   * Whether older pages follow. `complete`: it reaches the last listing or the start of the history. `givenUp`: the
   * wallet whose history is listed is too active.
   */
  state: 'continues' | 'complete' | 'givenUp'
  /** The transactions since the last listing, newest first. */
  fresh: readonly ListedSignature[]
  /** Those that may have changed the account. */
  found: readonly FoundTransaction[]
  /** Whether the newest transaction that may have changed the account is final; true without any. */
  isFinal: boolean
  /** If given up, the last slot that is not searched. */
  unsearchedTo: number | undefined
}

async function examine(
  services: FollowingServices,
  account: FollowedAccount,
  page: readonly ListedSignature[],
  options: ListingOptions,
): Promise<ExaminedPage> {
  const { address, seen_slot, history_of, listed } = account
  const { pageSize } = options
  // If a node does not know the last signature because its fork was dropped, its list continues past it.
  const fresh = page.filter(({ slot }) => slot >= seen_slot)
  const last = fresh.at(-1)
  const isLast = page.length < pageSize || fresh.length < page.length || last === undefined
  const isTooLong = history_of !== null && !isLast && listed + fresh.length >= MOST_WALLET_PAGES * pageSize
  const toRead = history_of === null ? undefined : await signaturesToRead(services, account, fresh, options)
  // A failed transaction changes no record, but it cost its network fee.
  const isBooked = services.booked?.has(address) === true
  const isFound = ({ signature, isFailed }: ListedSignature) =>
    toRead === undefined ? isBooked || !isFailed : toRead?.has(signature) === true
  const newest = history_of === null ? fresh[0] : fresh.find(isFound)
  return {
    state: toRead === null || isTooLong ? 'givenUp' : isLast ? 'complete' : 'continues',
    fresh,
    found: fresh.flatMap((each, i) =>
      isFound(each) ? [{ signature: each.signature, slot: each.slot, place: listed + i }] : [],
    ),
    isFinal: newest?.isFinal ?? true,
    unsearchedTo: (isTooLong ? last : fresh[0])?.slot,
  }
}

/** Returns the account with its new place, or null at the end of its listing or when another process is ahead. */
async function writePage(
  services: FollowingServices,
  account: FollowedAccount,
  page: readonly ListedSignature[],
  options: ListingOptions,
): Promise<FollowedAccount | null> {
  const { store, clock, log } = services
  const now = clock.now()
  const { address, seen_slot, history_of } = account
  const examined = await examine(services, account, page, options)
  const { state, fresh, found } = examined
  const isEnd = state !== 'continues'
  if (state === 'givenUp') {
    const where = { address, wallet: history_of, from: seen_slot, to: examined.unsearchedTo }
    log.error(where, 'the wallet is too active: its claims in these slots are not searched for')
  }
  const move: AccountMove = isEnd
    ? endOf(account, headOf(account, fresh), {
        isQuiet: fresh.length === 0 && account.listed === 0,
        next: (quiet) => now + (quiet === 0 ? options.busyWaitMs : options.quietWaitMs(quiet)),
      })
    : {
        ...headOf(account, fresh),
        before_signature: fresh.at(-1)?.signature ?? null,
        listed: account.listed + fresh.length,
        next_look_at: now,
      }
  const planned = isEnd ? { ...move, ...hashMove(services, account, move, { ...options, examined }) } : move
  const isMoved = await store.write(async (tx) => {
    if (!(await moveAccount(tx, account, planned))) return false
    if (found.length > 0) await insertFound(tx, found, account, now)
    if (isEnd) await releaseListed(tx, options.genesis, address)
    return true
  })
  return isEnd || !isMoved ? null : { ...account, ...move }
}

/**
 * The history counts as known up to the newest final transaction. Newer ones are listed again until they are final or
 * lost.
 */
function headOf(
  { head_slot, head_signature }: FollowedAccount,
  fresh: readonly ListedSignature[],
): Pick<FollowedAccount, 'head_slot' | 'head_signature'> {
  const final = head_signature === null ? fresh.find(({ isFinal }) => isFinal) : undefined
  return { head_slot: final?.slot ?? head_slot, head_signature: final?.signature ?? head_signature }
}

/**
 * Computes the stored hash at the end of a listing, and the time of the next look while the change is not explained:
 * - Accepted: the listing was given up, or the final history has passed the slot at which the change was first read.
 * - Open: transactions were listed, and the index may still lack later ones. It is listed again until the history has
 *   passed that slot, or until listings in a row add nothing.
 * - Unexplained: nothing was listed. `hashAfter` decides how often the listing is repeated.
 */
function hashMove(
  { clock, log }: FollowingServices,
  { address, seen_slot, state_hash, history_of, listed, before_signature }: FollowedAccount,
  { seen_slot: knownTo = seen_slot, seen_signature }: AccountMove,
  { stateHash, slot = 0, quietWaitMs, examined }: ListingOptions & { examined: ExaminedPage },
): AccountMove {
  if (stateHash === undefined || stateHash === state_hash) return {}
  const { state, found, isFinal } = examined
  const since = awaitedSlot(state_hash, stateHash) ?? slot
  const isListed = found.length > 0 || listed > 0
  const isOpen = isListed || awaitedSlot(state_hash, stateHash) !== null
  if (state === 'givenUp' || (isOpen && knownTo >= since)) return { state_hash: stateHash }
  if (isListed) {
    // An account without a place is listed next time as if for the first time.
    const isFirst = state_hash === null && (seen_signature ?? null) === null
    return { state_hash: isFirst ? null : awaitedHash(state_hash, stateHash, slot) }
  }
  if (before_signature !== null || !isFinal) return {}
  // The curve can change although the listed wallet did nothing.
  const most = history_of === null ? undefined : TRIES_FOR_ANOTHER
  const after = awaitedAfter(state_hash, stateHash, slot) ?? hashAfter(state_hash, stateHash, false, most)
  if (after.isGivenUp && history_of === null)
    log.error({ address, slot: seen_slot }, 'an account changed, and no transaction that did it was listed')
  return {
    state_hash: after.stored,
    ...(after.tries > 0 ? { next_look_at: clock.now() + quietWaitMs(after.tries) } : {}),
  }
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

// Bounds how much is read of a wallet whose history is listed for another account. The wallet may belong to an
// exchange.

/** One listing is given up after this many pages of a wallet's history. */
const MOST_WALLET_PAGES = 10
/** Up to this many transactions of a page are all read. Finding those that name the account would cost calls too. */
const READ_UNASKED = 5
/** Pages of the account's own history that are listed per page of the wallet's. */
const OWN_PAGES = 5
/** Most transactions of one page that are read. */
const MOST_READ = 500

/**
 * Returns the wallet's transactions that may have changed the account: those also in the account's history, and those
 * older than its listed part. Returns null if they are too many to read. `listed` is newest first. Uses at least one
 * call even if none is left. Throws internal_error when the node fails.
 */
async function signaturesToRead(
  { chain }: FollowingServices,
  { address }: Pick<FollowedAccount, 'address'>,
  listed: readonly ListedSignature[],
  { budget, pageSize, slot = 0 }: { budget: Budget; pageSize: number; slot?: number | undefined },
): Promise<ReadonlySet<string> | null> {
  const executed = listed.filter(({ isFailed }) => !isFailed)
  const [newest, oldest] = [executed[0], executed.at(-1)]
  const all = new Set(executed.map(({ signature }) => signature))
  if (newest === undefined || oldest === undefined || all.size <= READ_UNASKED) return all
  const own = new Set<string>()
  let reached = Number.POSITIVE_INFINITY
  let before: string | undefined
  for (let n = 0; n < OWN_PAGES && reached >= oldest.slot && (n === 0 || budget.left > 0); n++) {
    budget.take()
    // A lagging node would leave out newer transactions.
    const minSlot = Math.max(slot, newest.slot)
    const page = await listSignatures(chain, address, { before, minSlot, limit: pageSize })
    for (const { signature } of page) own.add(signature)
    const last = page.at(-1)
    before = last?.signature
    reached = page.length < pageSize || last === undefined ? -1 : last.slot
  }
  const kept = executed.filter(({ signature, slot: at }) => own.has(signature) || at <= reached)
  return kept.length > MOST_READ ? null : new Set(kept.map(({ signature }) => signature))
}

/** A node may show new data some minutes before its signature index has the transaction. */
const MOST_TRIES = 8

interface HashAfter {
  /** The new stored value. */
  stored: string
  /** Listings in a row that have not explained the change, or 0 if there is nothing to explain. */
  tries: number
  /** Whether the change is accepted without an explanation after too many listings. */
  isGivenUp: boolean
}

/** Computes the stored value after a complete listing: the new hash if the change is explained, else the old one. */
export function hashAfter(stored: string | null, now: string, isListed: boolean, most = MOST_TRIES): HashAfter {
  const { tries, hash } = partsOf(stored)
  if (hash === null || isListed || now === hash) return { stored: now, tries: 0, isGivenUp: false }
  if (tries >= most) return { stored: now, tries: 0, isGivenUp: true }
  return { stored: `${tries + 1}:${hash}`, tries: tries + 1, isGivenUp: false }
}

/** First character of the stored value of an open change. The slot of its first reading, its hash and its tries follow. */
const AWAITED = '@'
/** Listings in a row that add nothing after one that did, until an open change counts as explained. */
const CONFIRMING_TRIES = 3

/**
 * Returns the stored value of a change that is open: transactions were listed, and the listing has not passed the slot at
 * which the change was first read. A node's index may lag behind its accounts, so more of them may follow.
 */
export function awaitedHash(stored: string | null, now: string, slot: number, tries = 0): string {
  const open = `${AWAITED}${awaitedSlot(stored, now) ?? slot}:${now}`
  return tries === 0 ? open : `${open}:${tries}`
}

/** Returns the slot at which this change was first read, or null if it is new. */
export function awaitedSlot(stored: string | null, now: string): number | null {
  const open = openOf(stored)
  return open?.hash === now ? open.slot : null
}

/** Computes the stored value after a listing that added nothing to an open change; null if no change is open. */
export function awaitedAfter(stored: string | null, now: string, slot: number): HashAfter | null {
  const open = openOf(stored)
  if (open === null) return null
  const tries = open.hash === now ? open.tries + 1 : 1
  if (tries > CONFIRMING_TRIES) return { stored: now, tries: 0, isGivenUp: false }
  return { stored: awaitedHash(stored, now, slot, tries), tries, isGivenUp: false }
}

function openOf(stored: string | null): { slot: number; hash: string; tries: number } | null {
  if (!stored?.startsWith(AWAITED)) return null
  const [slot, hash = '', tries = 0] = stored.slice(AWAITED.length).split(':')
  return { slot: Number(slot), hash, tries: Number(tries) }
}

function partsOf(stored: string | null): { tries: number; hash: string | null } {
  if (stored?.startsWith(AWAITED)) return { tries: 0, hash: null }
  const [tries = '', hash] = stored?.split(':') ?? []
  return hash === undefined ? { tries: 0, hash: stored } : { tries: Number(tries), hash }
}
