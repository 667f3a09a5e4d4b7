/** Leases that assign a named job to one process. Times come from the callers' clocks; implausibly late times are ignored. */
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

/** Largest difference between clocks that docs/operating.md allows. */
const HALF_MINUTE_MS = 30_000

interface LeaseClaim {
  name: string
  /** Unique id of the claiming process. */
  owner: string
  /** Current time in Unix milliseconds. */
  now: number
  /** Milliseconds after which an owner that has not renewed is considered dead. */
  leaseMs: number
  /**
   * Scheduled time of the claim in Unix milliseconds; each is claimed at most once. Without it, the job has no
   * schedule.
   */
  slot?: number
}

/**
 * Takes the lease; of any number of concurrent claims exactly one returns true. Returns false while another process has
 * it, or if the slot was already claimed. Implausibly late values of `until` or `slot` do not block the claim.
 */
export async function claimLease(tx: Tx, { name, owner, now, leaseMs, slot }: LeaseClaim): Promise<boolean> {
  const taken = { owner, until: now + leaseMs }
  const row = await tx
    .insertInto('leases')
    .values({ name, ...taken, slot: slot ?? 0 })
    .onConflict((conflict) => {
      const { until, slot: last } = plausibleMaxima({ now, leaseMs })
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

/** Returns the latest times that a lease can have if all clocks agree to within half a minute, or its length. */
function plausibleMaxima({ now, leaseMs }: Pick<LeaseClaim, 'now' | 'leaseMs'>): { until: number; slot: number } {
  const slackMs = Math.max(leaseMs, HALF_MINUTE_MS)
  return { until: now + leaseMs + slackMs, slot: now + slackMs }
}

/** Milliseconds by which a lease exceeds the plausible maximum; 0 if it does not. */
export function aheadBy(row: Row<'leases'>, { now, leaseMs }: Pick<LeaseClaim, 'now' | 'leaseMs'>): number {
  const { until, slot } = plausibleMaxima({ now, leaseMs })
  return Math.max(row.until > until ? row.until - leaseMs - now : 0, row.slot > slot ? row.slot - now : 0)
}

interface LeaseHolder {
  name: string
  owner: string
}

/** Extends the lease; false when it was released or taken over by another process. */
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

/** Releases the lease and counts the job if it is `done`; does nothing if another process has taken it over. */
export async function releaseLease(tx: Tx, { name, owner }: LeaseHolder, done = false): Promise<void> {
  await tx
    .updateTable('leases')
    .set((of) => ({ until: 0, ...(done ? { done: of('done', '+', 1) } : {}) }))
    .where('name', '=', name)
    .where('owner', '=', owner)
    .execute()
}

/** Returns the leases that have not expired. */
export function heldLeases(reader: Reader, now: number): Promise<Row<'leases'>[]> {
  return reader.selectFrom('leases').selectAll().where('until', '>', now).execute()
}

/** Returns the leases of these names; a job that was never claimed has none. */
export function findLeases(reader: Reader, names: readonly string[]): Promise<Row<'leases'>[]> {
  return reader.selectFrom('leases').selectAll().where('name', 'in', names).execute()
}

export async function findLease(reader: Reader, name: string): Promise<Row<'leases'> | null> {
  return (await reader.selectFrom('leases').selectAll().where('name', '=', name).executeTakeFirst()) ?? null
}
