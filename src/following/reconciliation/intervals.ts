/** Computes when a followed account is looked at again: often while something happens, rarely while it is quiet. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'

export interface FollowedCounts {
  state: number
  history: number
}

/** Shortest time between two looks at an account. */
const BUSY_LOOK_MS = 5 * SECOND_MS
/** Longest time between two looks, while the calls suffice for it. */
const QUIET_LOOK_MS = { state: 20 * SECOND_MS, history: 30 * SECOND_MS } as const
/** Accounts whose data one call reads. */
export const STATES_PER_CALL = 100
/** Above it, what is due waits its turn. */
const LONGEST_INTERVAL_MS = HOUR_MS
/** Shares of the calls per minute that looks at quiet accounts may take, so that the rest is left for what happens. */
const QUIET_SHARE = { state: 0.1, history: 0.4 } as const

/** Returns the milliseconds until the next look at an account that was quiet `quiet` times in a row. */
export function lookIntervalOf(
  watch: 'state' | 'history',
  quiet: number,
  { counts, callsPerMinute }: { counts: FollowedCounts; callsPerMinute: number },
): number {
  const calls = watch === 'state' ? Math.ceil(counts.state / STATES_PER_CALL) : counts.history
  const affordable = (calls / (callsPerMinute * QUIET_SHARE[watch])) * MINUTE_MS
  const longest = Math.min(LONGEST_INTERVAL_MS, Math.max(QUIET_LOOK_MS[watch], affordable))
  return Math.min(longest, BUSY_LOOK_MS * 2 ** Math.min(quiet, 20))
}
