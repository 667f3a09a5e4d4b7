/** Computes what a wallet's claim pays at a given time: the unlocked amount once, and the vested part of the locked amount. */
import type { ClaimStatus, Distributor } from '../../chain/programs/merkle-distributor/index.ts'
import { nextVestingAt, vestedAt } from '../../solana/unlock-schedule.ts'

/** Amounts in raw units. */
export interface ClaimPayment {
  /** The unlocked amount, 0 once the wallet has claimed. */
  unlocked: bigint
  /** Vested and not withdrawn yet. */
  vested: bigint
  /** Unix second at which more vests; null if nothing is left to vest. */
  nextVestingAt: bigint | null
}

/** `now` is in Unix seconds. After the first claim the program uses its own record and ignores the leaf. */
export function claimPayment(
  leaf: { amount: bigint; locked: bigint },
  distributor: Distributor | null,
  status: ClaimStatus | null,
  now: bigint,
): ClaimPayment {
  const [locked, withdrawn] = status === null ? [leaf.locked, 0n] : [status.locked, status.lockedWithdrawn]
  const unlocked = status === null ? leaf.amount : 0n
  if (distributor === null || locked === 0n) return { unlocked, vested: 0n, nextVestingAt: null }
  const vested = vestedAt(distributor, locked, now)
  const due = vested > withdrawn ? vested - withdrawn : 0n
  return { unlocked, vested: due, nextVestingAt: nextVestingAt(distributor, locked, withdrawn + due) }
}
