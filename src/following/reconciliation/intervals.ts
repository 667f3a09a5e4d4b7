/** Computes when a followed account is checked next: often while it is active, rarely while it is quiet. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'

export interface FollowedCounts {
  state: number
  history: number
}

/** Shortest time between two checks of an account. */
const BUSY_LOOK_MS = 5 * SECOND_MS
/** Longest time between two looks if there are enough calls. */
const QUIET_LOOK_MS = { state: 20 * SECOND_MS, history: 30 * SECOND_MS } as const
/** Number of accounts that one call reads. */
export const STATES_PER_CALL = 100
/** Longest time between two looks. Beyond it, due accounts wait for their turn. */
const LONGEST_INTERVAL_MS = HOUR_MS
/** Shares of the calls per minute for checks of quiet accounts; the remaining calls are for active ones. */
const QUIET_SHARE = { state: 0.1, history: 0.4 } as const

/** Returns the milliseconds until the next check of an account after `quiet` checks in a row without news. */
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
