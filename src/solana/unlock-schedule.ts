/** Computes the vested part of a locked amount at a time, as the program does. */

/** Unix seconds between which locked amounts vest. */
interface UnlockSchedule {
  startsAt: bigint
  endsAt: bigint
}

/**
 * Returns the raw units of `locked` that have vested at `now` (Unix seconds): nothing before the start, all from the
 * end on, between them in proportion, rounded down. Source: the merkle distributor's `claim_locked`.
 */
export function vestedAt({ startsAt, endsAt }: UnlockSchedule, locked: bigint, now: bigint): bigint {
  if (now < startsAt) return 0n
  if (now >= endsAt) return locked
  return (locked * (now - startsAt)) / (endsAt - startsAt)
}

/**
 * Returns the Unix second at which more than `withdrawn` raw units of `locked` have vested, or null if nothing is left
 * to vest.
 */
export function nextVestingAt(schedule: UnlockSchedule, locked: bigint, withdrawn: bigint): bigint | null {
  if (withdrawn >= locked) return null
  const { startsAt, endsAt } = schedule
  const span = endsAt - startsAt
  // The first second t with floor(locked * (t - start) / span) > withdrawn.
  const after = ((withdrawn + 1n) * span + locked - 1n) / locked
  return after < span ? startsAt + after : endsAt
}
