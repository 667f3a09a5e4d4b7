/** Decides the result of an attempt: the next attempt, or the end. The functions are pure. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import { LONGEST_RETRY_MS } from '../../store/webhooks/queue.ts'

/** Delays in milliseconds from the start of the first attempt, the second and so on to the next one. */
const RETRY_DELAYS_MS: readonly number[] = [
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  LONGEST_RETRY_MS,
]
/** Most attempts for an event. */
export const MOST_ATTEMPTS = RETRY_DELAYS_MS.length + 1

export type DeliveryOutcome = { state: 'delivered' } | { state: 'waiting'; next_attempt_at: number } | { state: 'held' }

/** `attempt` counts from 1, and the delay counts from the attempt's start. */
export function deliveryOutcome(attempt: number, startedAt: number, succeeded: boolean): DeliveryOutcome {
  if (succeeded) return { state: 'delivered' }
  const delay = RETRY_DELAYS_MS[attempt - 1]
  if (delay === undefined) return { state: 'held' }
  return { state: 'waiting', next_attempt_at: startedAt + delay }
}
