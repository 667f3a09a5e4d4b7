/** Adds up what the locks of a token still hold, and when they pay it out. */
import type { TokenReportLocks } from '../../../api/token-report.ts'
import type { UnpaidLock } from '../../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../../chain/reads/chain-clock.ts'
import { DAY_SECONDS } from '../../../platform/timing.ts'
import { isoSeconds, lastUnlock, lockAmounts } from '../../../solana/lock-schedule.ts'
import { canBeCancelled, canBeRedirected, type Escrow } from '../../../solana/programs/jupiter-lock.ts'

/** Locks that are shown one by one. */
const MOST_SHOWN = 20

/**
 * A lock that holds less than it owes pays what is due first, so what is missing is missing from what is locked.
 */
export function lockFacts(
  locks: readonly UnpaidLock[],
  { unixSeconds }: Pick<ChainTime, 'unixSeconds'>,
): TokenReportLocks {
  const now = BigInt(unixSeconds)
  let [locked, vesting, claimable, cancellable] = [0n, 0n, 0n, 0n]
  let [next, last]: [bigint | null, bigint | null] = [null, null]
  const open: { escrow: Escrow; left: bigint; end: bigint }[] = []
  for (const { escrow, held } of locks) {
    const vested = lockAmounts(escrow, now)
    const due = vested.claimable < held ? vested.claimable : held
    const left = held - due
    claimable += due
    const hasSteps = escrow.amountPerPeriod > 0n && escrow.periods > 0n
    if (hasSteps) vesting += left
    else locked += left
    if (canBeCancelled(escrow)) cancellable += left
    if (left === 0n || vested.next === null) continue
    const end = lastUnlock(escrow)
    open.push({ escrow, left, end })
    if (next === null || vested.next.at < next) next = vested.next.at
    if (last === null || end > last) last = end
  }
  return {
    locks: locks.length,
    locked: String(locked),
    vesting: String(vesting),
    claimable: String(claimable),
    cancellable: String(cancellable),
    next_at: isoSeconds(next),
    last_at: isoSeconds(last),
    largest: open
      .sort((a, b) => (a.left === b.left ? (a.escrow.address < b.escrow.address ? -1 : 1) : a.left > b.left ? -1 : 1))
      .slice(0, MOST_SHOWN)
      .map(({ escrow: { address, recipient }, left, end }) => {
        return { address, recipient, amount: String(left), ends_at: isoSeconds(end) }
      }),
  }
}

/** What a wallet can have of locks. */
export interface AtHand {
  amount: bigint
  /** When the last of it is paid, in ISO 8601; null if all of it can be had at any time. */
  by: string | null
}

/** A lock that pays within this time does not hide what its recipient holds. */
const SOON_SECONDS = 90n * BigInt(DAY_SECONDS)

/**
 * Returns the raw units of locks that a wallet can have soon: what is due to its recipient within 90 days, to its creator
 * if that may name another recipient, and what a cancellation gives back to its creator.
 */
export function atHandIn(
  locks: readonly UnpaidLock[],
  { unixSeconds }: Pick<ChainTime, 'unixSeconds'>,
): Map<string, AtHand> {
  const now = BigInt(unixSeconds)
  const found = new Map<string, { amount: bigint; last: bigint | null }>()
  const add = (wallet: string, amount: bigint, last: bigint | null) => {
    if (amount === 0n) return
    const { amount: before, last: other } = found.get(wallet) ?? { amount: 0n, last: null }
    found.set(wallet, {
      amount: before + amount,
      last: other === null || (last !== null && last > other) ? last : other,
    })
  }
  for (const { escrow, held } of locks) {
    const least = (amount: bigint) => (amount < held ? amount : held)
    const due = least(lockAmounts(escrow, now).claimable)
    const soon = least(lockAmounts(escrow, now + SOON_SECONDS).claimable)
    const last = soon === due ? null : lastUnlock(escrow, now + SOON_SECONDS)
    add(escrow.recipient, soon, last)
    const canCancel = canBeCancelled(escrow)
    if (canCancel) add(escrow.creator, held - due, null)
    else if (canBeRedirected(escrow) && escrow.creator !== escrow.recipient) add(escrow.creator, soon, last)
  }
  return new Map([...found].map(([wallet, { amount, last }]) => [wallet, { amount, by: isoSeconds(last) }]))
}
