/** Computes the schedule of a lock as Jupiter Lock does: what unlocks at the cliff, and at the end of each period after it. */

/** Times in Unix seconds, amounts in raw units. */
export interface LockSchedule {
  cliffTime: bigint
  cliffAmount: bigint
  /** Seconds of a period. */
  frequency: bigint
  amountPerPeriod: bigint
  periods: bigint
}

/**
 * Splits an amount into the cliff and equal periods. What does not divide evenly is added to the cliff, so that
 * `cliffAmount + amountPerPeriod * periods` is the amount to the unit. Without periods everything is the cliff.
 *
 * @example
 * splitLock({ amount: 100n, cliffAmount: 10n, periods: 7n }) // { cliffAmount: 16n, amountPerPeriod: 12n }
 */
export function splitLock({ amount, cliffAmount, periods }: { amount: bigint; cliffAmount: bigint; periods: bigint }): {
  cliffAmount: bigint
  amountPerPeriod: bigint
} {
  const amountPerPeriod = periods === 0n ? 0n : (amount - cliffAmount) / periods
  return { cliffAmount: amount - amountPerPeriod * periods, amountPerPeriod }
}

/** Returns the raw units of the whole lock. */
export const totalOf = ({ cliffAmount, amountPerPeriod, periods }: Omit<LockSchedule, 'cliffTime' | 'frequency'>) =>
  cliffAmount + amountPerPeriod * periods

/** Whether everything unlocks in one moment, the cliff. */
export const unlocksAtOnce = ({ amountPerPeriod, periods, frequency }: LockSchedule): boolean =>
  periods === 0n || amountPerPeriod === 0n || frequency === 0n

/** Returns the periods that have ended at a time, in Unix seconds; null before the cliff. */
function periodsEnded({ cliffTime, frequency, periods }: LockSchedule, at: bigint): bigint | null {
  if (at < cliffTime) return null
  // The program pays the cliff alone if a period has no length.
  if (frequency === 0n) return 0n
  const ended = (at - cliffTime) / frequency
  return ended < periods ? ended : periods
}

/** Returns the raw units that have unlocked at a time, in Unix seconds. */
export function unlockedAt(schedule: LockSchedule, at: bigint): bigint {
  const ended = periodsEnded(schedule, at)
  return ended === null ? 0n : schedule.cliffAmount + schedule.amountPerPeriod * ended
}

/** Returns the first unlock after a time, in Unix seconds, that pays something; null after the last one. */
export function nextUnlock(schedule: LockSchedule, after: bigint): { at: bigint; amount: bigint } | null {
  const { cliffTime, cliffAmount, frequency, amountPerPeriod, periods } = schedule
  const ended = periodsEnded(schedule, after)
  if (ended === null && cliffAmount > 0n) return { at: cliffTime, amount: cliffAmount }
  const next = (ended ?? 0n) + 1n
  if (amountPerPeriod === 0n || frequency === 0n || next > periods) return null
  return { at: cliffTime + next * frequency, amount: amountPerPeriod }
}
