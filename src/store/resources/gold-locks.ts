/** Storage of gold locks, one row per lock of a wallet, and selection of those to check. */
import type { SelectQueryBuilder } from 'kysely'
import { rowsWithin } from '../queries/paging.ts'
import { insertingOnce, listing } from '../queries/records.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type GoldLockRow = Row<'gold_locks'>

export const insertGoldLock = insertingOnce('gold_locks')
export const pageGoldLocks = listing('gold_locks', ['user', 'status'], { weights: { metadata_json: 1 } })

/** Returns the latest lock of a wallet on one chain, live or not. */
export async function findLatestGoldLock(reader: Reader, user: string, genesis: string): Promise<GoldLockRow | null> {
  const query = reader.selectFrom('gold_locks').selectAll().where('user', '=', user).where('genesis', '=', genesis)
  return (await query.orderBy('slot', 'desc').orderBy('seq', 'desc').limit(1).executeTakeFirst()) ?? null
}

/**
 * Returns the live lock that was created at an address before a slot. A later lock at the same address is a different
 * lock.
 */
export async function findLiveGoldLock(
  reader: Reader,
  { escrow, genesis, before }: { escrow: string; genesis: string; before: number },
): Promise<GoldLockRow | null> {
  const query = reader
    .selectFrom('gold_locks')
    .selectAll()
    .where('escrow', '=', escrow)
    .where('genesis', '=', genesis)
    .where('slot', '<', before)
    .where('status', '!=', 'unlocked')
  return (await query.orderBy('slot').limit(1).executeTakeFirst()) ?? null
}

/** Moves a lock to its next state; false if another process has moved it since it was read. */
export async function moveGoldLock(
  tx: Tx,
  { seq, status }: Pick<GoldLockRow, 'seq' | 'status'>,
  changes: Pick<GoldLockRow, 'status' | 'next_check_at'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('gold_locks')
    .set(changes)
    .where('seq', '=', seq)
    .where('status', '=', status)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Schedules an immediate check of earlier live locks at the address, because a later lock there proves that they have
 * ended.
 */
export async function planReplaced(
  tx: Tx,
  { escrow, genesis, slot }: Pick<GoldLockRow, 'escrow' | 'genesis' | 'slot'>,
  now: number,
): Promise<void> {
  await tx
    .updateTable('gold_locks')
    .set({ next_check_at: now })
    .where('escrow', '=', escrow)
    .where('genesis', '=', genesis)
    .where('slot', '<', slot)
    .where('status', '!=', 'unlocked')
    .execute()
}

/** Stores the next check time of a lock whose state has not changed. */
export async function planGoldLockCheck(
  tx: Tx,
  { seq }: Pick<GoldLockRow, 'seq'>,
  next_check_at: number,
): Promise<void> {
  await tx
    .updateTable('gold_locks')
    .set({ next_check_at })
    .where('seq', '=', seq)
    .where('status', '!=', 'unlocked')
    .execute()
}

/** Whether any chain has a live lock. */
export async function isAnyGoldLockLive(reader: Reader): Promise<boolean> {
  const live = reader.selectFrom('gold_locks').select('seq').where('status', 'in', ['locked', 'unlockable'])
  return (await live.limit(1).executeTakeFirst()) !== undefined
}

/** Returns the earliest unlock time and the earliest check time among one chain's locks, in Unix milliseconds. */
export async function nextGoldLocks(
  reader: Reader,
  genesis: string,
): Promise<{ unlocks_at: number | null; next_check_at: number | null }> {
  const earliest = async (status: GoldLockRow['status'], column: 'unlocks_at' | 'next_check_at') => {
    const row = await reader
      .selectFrom('gold_locks')
      .select(column)
      .where('genesis', '=', genesis)
      .where('status', '=', status)
      .where(column, 'is not', null)
      .orderBy(column)
      .limit(1)
      .executeTakeFirst()
    return row?.[column] ?? null
  }
  return {
    unlocks_at: await earliest('locked', 'unlocks_at'),
    next_check_at: await earliest('unlockable', 'next_check_at'),
  }
}

/**
 * Returns locks whose unlock time has passed by the chain's clock, then locks whose next check is due; the longest
 * overdue first.
 */
export async function dueGoldLocks(
  reader: Reader,
  { genesis, chainNow, now, limit }: { genesis: string; chainNow: number; now: number; limit: number },
): Promise<GoldLockRow[]> {
  const of = (status: GoldLockRow['status']) =>
    reader.selectFrom('gold_locks').selectAll().where('genesis', '=', genesis).where('status', '=', status)
  const within = (due: SelectQueryBuilder<Tables, 'gold_locks', GoldLockRow>, maxRows: number) =>
    rowsWithin(due, { limit: maxRows, place: 'seq', weights: { metadata_json: 1 } })
  const unlockDue = of('locked')
    .where('unlocks_at', '<=', chainNow)
    .where((is) => is.or([is('next_check_at', 'is', null), is('next_check_at', '<=', now)]))
    .orderBy('unlocks_at')
    .orderBy('seq')
  const { rows, end } = await within(unlockDue, limit)
  if (end !== null || rows.length >= limit) return rows
  const recheckDue = of('unlockable').where('next_check_at', '<=', now).orderBy('next_check_at').orderBy('seq')
  return [...rows, ...(await within(recheckDue, limit - rows.length)).rows]
}
