/** Lists the history of a followed account from its newest transaction back to the last listing, page by page, over as many rounds as it takes. */
import { type ListedSignature, type ListOptions, listSignatures } from '../../chain/history.ts'
import { readFirstBlock } from '../../chain/statuses.ts'
import { insertFound, releaseListed } from '../../store/chain-transactions.ts'
import { type AccountMove, type FollowedAccount, moveAccount, planLook } from '../../store/followed-accounts.ts'
import { MINUTE_MS } from '../../timing.ts'
import type { Budget } from '../budget.ts'
import type { FollowingServices } from '../services.ts'
import { hashAfter } from './state-hashes.ts'

/** Wait for a node whose history reaches back far enough, which the operator has to name. */
const SHORT_HISTORY_WAIT_MS = 10 * MINUTE_MS

export interface ListingOptions {
  genesis: string
  budget: Budget
  /** Milliseconds until the next look after a look that has found nothing. */
  quietWaitMs(quiet: number): number
  busyWaitMs: number
  /** Signatures in one call. */
  pageSize: number
  /** SHA-256 of the account's data as it was read before, for accounts that are listed when it changes. */
  stateHash?: string
  /** Slot of that reading, which the node must have reached. */
  slot?: number
  signal?: AbortSignal | undefined
}

/**
 * Goes on until the listing has no gap or the budget is used up; the next round goes on where this one stopped. What is
 * found is released for reading only then, because the oldest comes last and must be read first. Throws internal_error
 * when the node fails.
 */
export async function listAccount(
  services: FollowingServices,
  account: FollowedAccount,
  options: ListingOptions,
): Promise<void> {
  let at: FollowedAccount | null = account
  while (at !== null && options.budget.take()) {
    options.signal?.throwIfAborted()
    const { address, before_signature, seen_signature, head_slot } = at
    const request = {
      before: before_signature ?? undefined,
      until: seen_signature ?? undefined,
      minSlot: head_slot ?? options.slot,
      limit: options.pageSize,
    }
    const page = await listSignatures(services.chain, address, request)
    const proven = isShort(at, page, options) ? await reachingPage(services, at, { page, request, options }) : page
    if (proven === null) return beginAgain(services, at, SHORT_HISTORY_WAIT_MS)
    at = await writePage(services, at, proven, options)
  }
}

/** A listing that cannot go on begins again later. */
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
 * Whether the page ends before the last listing without showing it, and would move the place of the account: a node that
 * keeps a short history answers as if nothing had happened before it.
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
 * Returns the page of a node whose own history begins before the gap, and null where there is none. An account that was
 * never listed may be younger than the history, so that only its gap is told. It is asked for even where no call is left,
 * which happens once in a round.
 */
async function reachingPage(
  { chain, log }: FollowingServices,
  { address, seen_slot, seen_signature, state_hash, before_signature }: FollowedAccount,
  { page, request, options }: { page: ListedSignature[]; request: ListOptions; options: ListingOptions },
): Promise<ListedSignature[] | null> {
  const isFirst = seen_signature === null && state_hash === null
  if (isFirst && before_signature === null) return page
  options.budget.take()
  const pages: ListedSignature[][] = []
  const starts: number[] = []
  // Of several endpoints one is enough, as long as both answers are its own.
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
    log.warn(where, 'the node has no history of these slots: what happened in them is not told')
    return page
  }
  log.error(
    where,
    'no node has the history of these slots: the account waits until rpc-url or rpc-urls names one that has',
  )
  return null
}

/** Returns the account as it goes on, or null at the end of its listing and where another process is ahead. */
async function writePage(
  { store, clock, log }: FollowingServices,
  account: FollowedAccount,
  page: readonly ListedSignature[],
  { genesis, quietWaitMs, busyWaitMs, stateHash, pageSize }: ListingOptions,
): Promise<FollowedAccount | null> {
  const now = clock.now()
  const { address, seen_slot, beside, state_hash } = account
  // A node that does not know the last signature, because its fork was dropped, lists on behind it.
  const isNew = ({ slot }: ListedSignature) => slot >= seen_slot
  const fresh = page.filter(isNew)
  const last = fresh.at(-1)
  const isEnd = page.length < pageSize || fresh.length < page.length || last === undefined
  const found = fresh.flatMap(({ signature, slot, isFailed }, i) =>
    isFailed ? [] : [{ signature, slot, place: account.listed + i }],
  )
  // Only what is final marks how far the history is known: the rest is listed again until it is, or until it is gone.
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
    : { ...head, before_signature: last.signature, listed: account.listed + fresh.length, next_look_at: now }
  const isSettled = isEnd && account.before_signature === null && (fresh[0]?.isFinal ?? true)
  const isListed = found.length > 0 || account.listed > 0
  const planned: AccountMove = { ...move }
  if (isSettled && stateHash !== undefined) {
    const { stored, tries, isGivenUp } = hashAfter(state_hash, stateHash, isListed)
    planned.state_hash = stored
    if (tries > 0) planned.next_look_at = now + quietWaitMs(tries)
    if (isGivenUp)
      log.error({ address, slot: seen_slot }, 'an account changed, and no transaction that did it was listed')
  } else if (isEnd && stateHash !== undefined && isListed) {
    // The next listing, once all is final, has this change explained.
    planned.state_hash = null
  }
  const isMoved = await store.write(async (tx) => {
    if (!(await moveAccount(tx, account, planned))) return false
    if (found.length > 0) await insertFound(tx, found, { genesis, address, isHalf: beside !== null, now })
    if (isEnd) await releaseListed(tx, genesis, address)
    return true
  })
  return isEnd || !isMoved ? null : { ...account, ...move }
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
