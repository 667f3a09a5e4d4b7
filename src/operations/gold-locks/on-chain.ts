/** Reads the lock of a wallet from the chain, and its stored record. */
import type { GoldLock } from '../../api/index.ts'
import { type Escrow, isPaidOut, scheduleMismatch } from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Services } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { findLatestGoldLock, type GoldLockRow } from '../../store/resources/gold-locks.ts'
import { goldMint } from './gold-mint.ts'

/** Returns the latest lock of the wallet that landed on this chain through this service. */
export async function storedLock(
  { chain, store }: Pick<Services, 'chain' | 'store'>,
  user: string,
): Promise<GoldLockRow | null> {
  return findLatestGoldLock(store.db, user, await chain.genesisHash())
}

/** Whether the row belongs to this lock rather than to an earlier one at its address. */
export function isStoredLock(escrow: Escrow, row: Pick<GoldLockRow, 'mint' | 'amount' | 'unlocks_at'>): boolean {
  const { mint, cliffAmount, cliffTime } = escrow
  return row.mint === mint && row.amount === String(cliffAmount) && row.unlocks_at === Number(cliffTime) * 1000
}

/**
 * Returns why the lock of a wallet is not a gold lock, as the end of a sentence. Returns null for a lock of the gold
 * mint, or one that was followed here when another mint was configured. Throws internal_error if that depends on
 * `gold.mint` and it is not set.
 */
export function goldLockMismatch(services: Pick<Services, 'config'>, escrow: Escrow, stored: GoldLockRow | null) {
  const mismatch = scheduleMismatch(escrow)
  if (mismatch !== null) return mismatch
  if (stored !== null && isStoredLock(escrow, stored)) return null
  const gold = goldMint(services)
  return escrow.mint === gold ? null : `its mint is ${escrow.mint}, not the gold mint ${gold}`
}

/** Returns not_found for a wallet without a gold lock, naming any other lock at its address. */
export function noGoldLock({ chain }: Pick<Services, 'chain'>, user: string, escrow?: Escrow, why?: string | null) {
  const none = `The wallet ${user} has no gold lock on ${chain.cluster.label}`
  if (escrow === undefined) return notFound(none, { param: 'user' })
  return notFound(`${none}: the lock at ${escrow.address} was made with another tool (${why})`, {
    param: 'user',
    details: { escrow: escrow.address, mint: escrow.mint },
  })
}

/** Returns whole seconds of the chain's clock, or 0 once the time has come. */
export const secondsUntilUnlock = ({ cliffTime }: Escrow, { unixSeconds }: ChainTime): number =>
  Math.max(0, Number(cliffTime) - unixSeconds)

export function goldLockStatusOf(escrow: Escrow, at: ChainTime): GoldLock['status'] {
  if (isPaidOut(escrow)) return 'unlocked'
  return secondsUntilUnlock(escrow, at) > 0 ? 'locked' : 'unlockable'
}

export const unlocksAt = ({ cliffTime }: Escrow): string => new Date(Number(cliffTime) * 1000).toISOString()
