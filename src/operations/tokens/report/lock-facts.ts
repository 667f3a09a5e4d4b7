/** Adds up what the locks of a token still hold, and when they pay it out. */
import type { TokenReportLocks } from '../../../api/token-report.ts'
import { type Escrow, LAST_SECOND, type LockOfMint, lockAmounts } from '../../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../../chain/reads/chain-clock.ts'
import { SECOND_MS } from '../../../platform/timing.ts'
import { DBC_POOL_AUTHORITY } from '../../../solana/programs.ts'

/** Locks that are shown one by one. */
const MOST_SHOWN = 20
/** Value of the cancel mode with which the creator alone may cancel. */
const BY_CREATOR = 1

/**
 * A lock that holds less than it owes pays what is due first, so what is missing is missing from what is locked.
 */
export function lockFacts(
  locks: readonly LockOfMint[],
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
    const end = hasSteps ? escrow.cliffTime + escrow.frequency * escrow.periods : escrow.cliffTime
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
    next_at: timeOf(next),
    last_at: timeOf(last),
    largest: open
      .sort((a, b) => (a.left === b.left ? (a.escrow.address < b.escrow.address ? -1 : 1) : a.left > b.left ? -1 : 1))
      .slice(0, MOST_SHOWN)
      .map(({ escrow: { address, recipient }, left, end }) => {
        return { address, recipient, amount: String(left), ends_at: timeOf(end) }
      }),
  }
}

/** Launch curves make their locks cancellable by their own program, which has no instruction for it. */
const canBeCancelled = ({ cancelMode, creator }: Pick<Escrow, 'cancelMode' | 'creator'>): boolean =>
  cancelMode !== 0 && !(cancelMode === BY_CREATOR && creator === DBC_POOL_AUTHORITY)

/**
 * Returns the raw units of locks that a wallet can have at any time: what is due to its recipient, and what a
 * cancellation gives back to its creator.
 */
export function atHandIn(
  locks: readonly LockOfMint[],
  { unixSeconds }: Pick<ChainTime, 'unixSeconds'>,
): Map<string, bigint> {
  const atHand = new Map<string, bigint>()
  const add = (wallet: string, amount: bigint) => {
    if (amount > 0n) atHand.set(wallet, (atHand.get(wallet) ?? 0n) + amount)
  }
  for (const { escrow, held } of locks) {
    const { claimable } = lockAmounts(escrow, BigInt(unixSeconds))
    const due = claimable < held ? claimable : held
    add(escrow.recipient, due)
    if (canBeCancelled(escrow)) add(escrow.creator, held - due)
  }
  return atHand
}

/** Null also for a time that no calendar shows. */
export function timeOf(seconds: bigint | null): string | null {
  return seconds === null || seconds > LAST_SECOND ? null : new Date(Number(seconds) * SECOND_MS).toISOString()
}
