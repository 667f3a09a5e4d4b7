/** Lists the history of a followed account from its newest transaction back to the last listing, page by page, over as many rounds as it takes. */
import { type ListedSignature, listSignatures } from '../../chain/history.ts'
import { readFirstBlock } from '../../chain/statuses.ts'
import { insertFound, releaseListed } from '../../store/chain-transactions.ts'
import { type AccountMove, type FollowedAccount, moveAccount } from '../../store/followed-accounts.ts'
import type { Budget } from '../budget.ts'
import type { FollowingServices } from '../services.ts'

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
    const page = await listSignatures(services.chain, address, {
      before: before_signature ?? undefined,
      until: seen_signature ?? undefined,
      minSlot: head_slot ?? options.slot,
      limit: options.pageSize,
    })
    const isGapEnd = before_signature !== null && page.length < options.pageSize
    if (isGapEnd && options.budget.take()) await warnOfLostHistory(services, at)
    at = await writePage(services, at, page, options)
  }
}

/** A node that keeps a short history answers as if nothing had happened before it. */
async function warnOfLostHistory(
  { chain, log }: FollowingServices,
  { address, seen_slot }: FollowedAccount,
): Promise<void> {
  const historyStart = await readFirstBlock(chain)
  // Without an earlier listing, the account itself may be younger than the history.
  if (historyStart <= seen_slot || seen_slot === 0) return
  const where = { address, from: seen_slot, to: historyStart }
  log.warn(where, 'the node has no history of these slots: what happened in them is not told')
}

/** Returns the account as it goes on, or null at the end of its listing and where another process is ahead. */
async function writePage(
  { store, clock }: FollowingServices,
  account: FollowedAccount,
  page: readonly ListedSignature[],
  { genesis, quietWaitMs, busyWaitMs, stateHash, pageSize }: ListingOptions,
): Promise<FollowedAccount | null> {
  const now = clock.now()
  const { address, seen_slot, beside } = account
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
  const isMoved = await store.write(async (tx) => {
    const hash = isSettled && stateHash !== undefined ? { state_hash: stateHash } : {}
    if (!(await moveAccount(tx, account, { ...move, ...hash }))) return false
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
