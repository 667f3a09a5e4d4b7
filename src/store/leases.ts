/** Leases: which process does a named job. Times are the callers' clocks; what one that was far ahead has left is not believed. */
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export interface LeaseClaim {
  name: string
  /** The claiming process; unique to it. */
  owner: string
  /** Unix milliseconds. */
  now: number
  /** How long the owner is believed to live without renewing. */
  leaseMs: number
  /** Moment of the schedule that this claim stands for, Unix milliseconds: each is given once. Without it, any time will do. */
  slot?: number
}

/**
 * Takes the lease; of any number of claims at once exactly one is true. False where it is held, or the slot was given
 * before; an `until` or a slot that no clock near the caller's can have written holds nobody up.
 */
export async function claimLease(tx: Tx, { name, owner, now, leaseMs, slot }: LeaseClaim): Promise<boolean> {
  const taken = { owner, until: now + leaseMs }
  const row = await tx
    .insertInto('leases')
    .values({ name, ...taken, slot: slot ?? 0 })
    .onConflict((conflict) => {
      const { until, slot: last } = believable({ now, leaseMs })
      const free = conflict
        .column('name')
        .doUpdateSet(slot === undefined ? taken : { ...taken, slot })
        .where((is) => is.or([is('leases.until', '<=', now), is('leases.until', '>', until)]))
      if (slot === undefined) return free
      return free.where((is) => is.or([is('leases.slot', '<', slot), is('leases.slot', '>', last)]))
    })
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

/** The latest moments that a lease can show where every clock is right to within a lease. */
function believable({ now, leaseMs }: Pick<LeaseClaim, 'now' | 'leaseMs'>): { until: number; slot: number } {
  return { until: now + 2 * leaseMs, slot: now + leaseMs }
}

/** How far a lease lies ahead of what can be believed, in milliseconds; 0 where it does not. */
export function aheadBy(row: Row<'leases'>, { now, leaseMs }: Pick<LeaseClaim, 'now' | 'leaseMs'>): number {
  const { until, slot } = believable({ now, leaseMs })
  return Math.max(row.until > until ? row.until - leaseMs - now : 0, row.slot > slot ? row.slot - now : 0)
}

export interface LeaseHolder {
  name: string
  owner: string
}

/** Extends the lease; false where it has been released, or another process has taken it over. */
export async function renewLease(tx: Tx, { name, owner }: LeaseHolder, until: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('leases')
    .set({ until })
    .where('name', '=', name)
    .where('owner', '=', owner)
    .where('until', '>', 0)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Gives the lease back, its job `done` or not; does nothing where another process has taken it over. */
export async function releaseLease(tx: Tx, { name, owner }: LeaseHolder, done = false): Promise<void> {
  await tx
    .updateTable('leases')
    .set((of) => ({ until: 0, ...(done ? { done: of('done', '+', 1) } : {}) }))
    .where('name', '=', name)
    .where('owner', '=', owner)
    .execute()
}

/** Leases that somebody is believed to hold. */
export function heldLeases(reader: Reader, now: number): Promise<Row<'leases'>[]> {
  return reader.selectFrom('leases').selectAll().where('until', '>', now).execute()
}

export async function findLease(reader: Reader, name: string): Promise<Row<'leases'> | null> {
  return (await reader.selectFrom('leases').selectAll().where('name', '=', name).executeTakeFirst()) ?? null
}
