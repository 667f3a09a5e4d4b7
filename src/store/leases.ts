/** Leases: which process does a named job. Times are the callers' clocks, which must agree to well within a lease. */
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

/** Takes the lease; of any number of claims at once exactly one is true. False where it is held, or the slot was given before. */
export async function claimLease(tx: Tx, { name, owner, now, leaseMs, slot }: LeaseClaim): Promise<boolean> {
  const taken = { owner, until: now + leaseMs }
  const row = await tx
    .insertInto('leases')
    .values({ name, ...taken, slot: slot ?? 0 })
    .onConflict((conflict) => {
      const free = conflict
        .column('name')
        .doUpdateSet(slot === undefined ? taken : { ...taken, slot })
        .where('leases.until', '<=', now)
      return slot === undefined ? free : free.where('leases.slot', '<', slot)
    })
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
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

/** Gives the lease back; does nothing where another process has taken it over. */
export async function releaseLease(tx: Tx, { name, owner }: LeaseHolder): Promise<void> {
  await tx.updateTable('leases').set({ until: 0 }).where('name', '=', name).where('owner', '=', owner).execute()
}

/** Leases that somebody is believed to hold. */
export function heldLeases(reader: Reader, now: number): Promise<Row<'leases'>[]> {
  return reader.selectFrom('leases').selectAll().where('until', '>', now).execute()
}

export async function findLease(reader: Reader, name: string): Promise<Row<'leases'> | null> {
  return (await reader.selectFrom('leases').selectAll().where('name', '=', name).executeTakeFirst()) ?? null
}
