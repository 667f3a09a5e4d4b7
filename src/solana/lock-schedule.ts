/** The schedule of a lock, checked and computed as Jupiter Lock does: a cliff, and equal periods after it. */
import type { TransferFee } from './token-extensions.ts'
import { MAX_U64 } from './u64.ts'

/** Times in Unix seconds, amounts in raw units. */
export interface LockSchedule {
  cliffTime: bigint
  cliffAmount: bigint
  /** Seconds of a period. */
  frequency: bigint
  amountPerPeriod: bigint
  periods: bigint
}

/** Last second that ISO 8601 can represent with a year of four digits. The program accepts any 64 bits. */
export const LAST_SECOND = 253_402_300_799n

/** Returns the time of Unix seconds in ISO 8601; null without a time, and beyond the year 9999. */
export const isoSeconds = (seconds: bigint | null): string | null =>
  seconds === null || seconds > LAST_SECOND ? null : new Date(Number(seconds) * 1000).toISOString()

/** When something unlocks, in Unix seconds, as the end of a sentence. */
export const unlockText = (seconds: bigint): string =>
  seconds > LAST_SECOND ? 'after the year 9999' : `at ${isoSeconds(seconds)}`

/** The terms of a schedule that somebody asks for; null for what is left out. */
interface AskedSchedule {
  amount: bigint
  startTime: bigint
  cliffTime: bigint
  cliffAmount: bigint | null
  periods: bigint | null
  frequency: bigint | null
}
export type ScheduleField = 'amount' | 'start' | 'cliff' | 'cliff_amount' | 'periods' | 'frequency'
/** Makes the error for a field; `fault` is the end of a sentence about it. */
type RefuseSchedule = (field: ScheduleField, fault: string) => Error

/**
 * Returns the schedule, whose parts are the amount to the unit. Throws what `refuse` makes for one that has no end,
 * unlocks nothing in a period, or contradicts itself.
 */
export function checkedSchedule(asked: AskedSchedule, refuse: RefuseSchedule): LockSchedule & { startTime: bigint } {
  const { amount, startTime, cliffTime, cliffAmount: wanted } = asked
  if (startTime < 0n) throw refuse('start', 'is before 1970')
  if (cliffTime < startTime) throw refuse('cliff', 'is before the start')
  const periods = checkedPeriods(asked, refuse)
  if (wanted !== null && wanted > amount) throw refuse('cliff_amount', 'is more than the amount')
  if (wanted !== null && periods === 0n && wanted !== amount) {
    throw refuse(
      'cliff_amount',
      'is only a part, and without periods everything unlocks at the cliff: leave it out, or give periods and frequency',
    )
  }
  const split = checkedSplit({ amount, cliffAmount: wanted ?? 0n, periods }, 'raw units', refuse)
  // The program requires a frequency even if no period follows.
  const schedule = { startTime, cliffTime, frequency: asked.frequency ?? 1n, periods, ...split }
  if (endOf(schedule) > LAST_SECOND) {
    throw refuse(periods > 0n ? 'periods' : 'cliff', 'reaches beyond the year 9999')
  }
  return schedule
}

/** Returns the number of periods. Throws what `refuse` makes if only one of number and length is given. */
export function checkedPeriods(
  { periods, frequency }: Pick<AskedSchedule, 'periods' | 'frequency'>,
  refuse: RefuseSchedule,
): bigint {
  if (frequency !== null && periods === null) {
    throw refuse('periods', 'is required with frequency: how many periods follow the cliff?')
  }
  if (periods !== null && periods > 0n && frequency === null) {
    throw refuse('frequency', 'is required with periods: how long is each period?')
  }
  return periods ?? 0n
}

interface Whole {
  amount: bigint
  cliffAmount: bigint
  periods: bigint
}

/** Splits an amount like `splitLock`. Throws what `refuse` makes if a period would release nothing. */
export function checkedSplit(whole: Whole, unit: string, refuse: RefuseSchedule): ReturnType<typeof splitLock> {
  const split = splitLock(whole)
  const { amount, cliffAmount, periods } = whole
  if (periods === 0n || split.amountPerPeriod > 0n) return split
  throw refuse(
    'periods',
    `is ${periods}, and ${amount - cliffAmount} ${unit} after the cliff are less than one for each`,
  )
}

/**
 * Splits an amount into the cliff and equal periods. What does not divide evenly is added to the cliff, so that
 * `cliffAmount + amountPerPeriod * periods` is the amount to the unit. Without periods everything is the cliff.
 *
 * @example
 * splitLock({ amount: 100n, cliffAmount: 10n, periods: 7n }) // { cliffAmount: 16n, amountPerPeriod: 12n }
 */
export function splitLock({ amount, cliffAmount, periods }: Whole): { cliffAmount: bigint; amountPerPeriod: bigint } {
  const amountPerPeriod = periods === 0n ? 0n : (amount - cliffAmount) / periods
  return { cliffAmount: amount - amountPerPeriod * periods, amountPerPeriod }
}

/** Returns the raw units of the whole lock. */
export const totalOf = ({ cliffAmount, amountPerPeriod, periods }: Omit<LockSchedule, 'cliffTime' | 'frequency'>) =>
  cliffAmount + amountPerPeriod * periods

/** Returns the end of the last period. */
export const endOf = ({ cliffTime, frequency, periods }: Pick<LockSchedule, 'cliffTime' | 'frequency' | 'periods'>) =>
  cliffTime + frequency * periods

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

/** Returns the last moment at which a period ends, up to a time in Unix seconds if one is given. */
export function lastUnlock(schedule: LockSchedule, until?: bigint): bigint {
  if (unlocksAtOnce(schedule)) return schedule.cliffTime
  const ended = until === undefined ? schedule.periods : periodsEnded(schedule, until)
  return schedule.cliffTime + (ended ?? 0n) * schedule.frequency
}

/** A lock that is there: what it has paid so far, and when it was cancelled, in Unix seconds, or 0. */
type LiveSchedule = LockSchedule & { claimed: bigint; cancelledAt: bigint }

/** Whether the whole amount is paid out. */
export const isPaidOut = (lock: LiveSchedule): boolean => lock.claimed >= totalOf(lock)

export type LockAmounts = ReturnType<typeof lockAmounts>

/** Returns what a lock has paid and will pay at a time, in Unix seconds. A cancelled lock pays nothing any more. */
export function lockAmounts(lock: LiveSchedule, unixSeconds: bigint) {
  const { claimed, cancelledAt } = lock
  const isCancelled = cancelledAt > 0n
  const total = totalOf(lock)
  const unlocked = unlockedAt(lock, isCancelled ? cancelledAt : unixSeconds)
  return {
    total,
    /** What has unlocked, with the claimed part. */
    unlocked,
    /** What a claim pays now. */
    claimable: !isCancelled && unlocked > claimed ? unlocked - claimed : 0n,
    /** What is still to unlock. */
    locked: isCancelled ? 0n : total - unlocked,
    /** The next unlock with its Unix seconds; null after the last one. */
    next: isCancelled ? null : nextUnlock(lock, unixSeconds),
  }
}

const WHOLE = 10_000n

/**
 * Returns the raw units that leave the creator, so that at least `amount` arrives after the mint's transfer fee; null
 * if a token account cannot hold them. The program rounds up more than it needs, which its later builds do not: those
 * take a few units less. What arrives beyond the amount returns to the creator when the lock ends.
 */
export function depositOf(fee: TransferFee | null, amount: bigint): bigint | null {
  if (fee === null || fee.basisPoints === 0) return amount
  const left = WHOLE - BigInt(fee.basisPoints)
  const rounded = left === 0n ? null : (amount * WHOLE + WHOLE - 1n) / left
  const deposit = rounded === null || rounded - amount >= fee.maximumFee ? amount + fee.maximumFee : rounded
  return deposit > MAX_U64 ? null : deposit
}
