/** Validates the schedule of a lock or of a vesting position: a cliff, and equal periods after it. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import { LAST_SECOND, type LockTerms } from '../../chain/programs/jupiter-lock/index.ts'
import { badRequest } from '../../platform/errors.ts'
import { splitLock, unlocksAtOnce } from '../../solana/lock-schedule.ts'
import { modeOf, momentOf } from './records.ts'

type CreateLockInput = Input<Api['locks']['create']>

/** Returns the number of periods. Throws bad_request if the request gives only one of number and length. */
export function periodsOf(
  { frequency, periods }: { frequency?: number | undefined; periods?: number | undefined },
  unit: 'seconds' | 'slots',
): bigint {
  if (frequency !== undefined && periods === undefined) {
    throw badRequest('periods is required with frequency: how many periods follow the cliff', { param: 'periods' })
  }
  if ((periods ?? 0) > 0 && frequency === undefined) {
    throw badRequest(`frequency is required with periods: the ${unit} of a period`, { param: 'frequency' })
  }
  return BigInt(periods ?? 0)
}

/** Splits an amount like `splitLock`. Throws bad_request if a period would release nothing. */
export function splitPeriods(terms: Parameters<typeof splitLock>[0], unit: string): ReturnType<typeof splitLock> {
  const split = splitLock(terms)
  const { amount, cliffAmount, periods } = terms
  if (periods === 0n || split.amountPerPeriod > 0n) return split
  throw badRequest(
    `periods is ${periods}, and ${amount - cliffAmount} ${unit} after the cliff are less than one for each`,
    { param: 'periods' },
  )
}

/** Throws bad_request for a schedule that has no end, unlocks nothing in a period, or contradicts itself. */
export function lockTermsOf(input: CreateLockInput, now: number): LockTerms {
  const amount = BigInt(input.amount)
  const startTime = secondsOf(input.starts_at, 'starts_at') ?? BigInt(now)
  const cliffTime = secondsOf(input.cliff_at, 'cliff_at') ?? startTime
  if (cliffTime < startTime) throw badRequest('cliff_at is before starts_at', { param: 'cliff_at' })
  const periods = periodsOf(input, 'seconds')
  const wanted = input.cliff_amount === undefined ? null : BigInt(input.cliff_amount)
  if (wanted !== null && wanted > amount) {
    throw badRequest(`cliff_amount is ${wanted}, more than the amount ${amount}`, { param: 'cliff_amount' })
  }
  if (wanted !== null && periods === 0n && wanted !== amount) {
    throw badRequest(
      `cliff_amount is ${wanted} of ${amount}, and without periods everything unlocks at the cliff: leave it out, or send periods and frequency`,
      { param: 'cliff_amount' },
    )
  }
  const split = splitPeriods({ amount, cliffAmount: wanted ?? 0n, periods }, 'raw units')
  // The program requires a frequency even if no period follows.
  const frequency = BigInt(input.frequency ?? 1)
  if (cliffTime + frequency * periods > LAST_SECOND) {
    throw badRequest('The last period ends after the year 9999: send fewer or shorter periods', { param: 'periods' })
  }
  return {
    ...{ startTime, cliffTime, frequency, periods },
    ...split,
    updateRecipientMode: modeOf(input.recipient_changeable_by),
    cancelMode: modeOf(input.cancellable_by),
  }
}

/** Returns whole Unix seconds; undefined without a time. */
function secondsOf(time: string | undefined, param: string): bigint | undefined {
  if (time === undefined) return undefined
  const seconds = Math.floor(Date.parse(time) / 1000)
  if (seconds >= 0) return BigInt(seconds)
  throw badRequest(`${param} is before 1970`, { param })
}

/** A lock that pays everything in one moment may be meant, or a forgotten period. */
export function releaseWarnings(terms: LockTerms, now: number): string[] {
  if (!unlocksAtOnce(terms)) return []
  return terms.cliffTime <= BigInt(now)
    ? ['Nothing is locked: the recipient can claim everything now. Send cliff_at, or periods and frequency']
    : [`Everything unlocks in one moment, ${momentOf(terms.cliffTime)}: no periods follow`]
}
