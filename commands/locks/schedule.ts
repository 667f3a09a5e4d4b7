/** Reads the schedule of a lock as people type it: times, spans such as 30d, amounts and shares of them. */
import { calendarMoment, momentFault } from '../../src/platform/calendar.ts'
import { DAY_SECONDS } from '../../src/platform/timing.ts'
import { type LockSchedule, splitLock } from '../../src/solana/lock-schedule.ts'
import { CLOCK_SYSVAR } from '../../src/solana/program-ids.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { rawUnits } from '../cli/amounts.ts'
import { type CommandInput, integer, text } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { Problem, usage } from '../ui/problem.ts'

/** The flag fills a field of the API that has another name. */
const filling = <T>(field: string, input: CommandInput<T>): CommandInput<T> => ({ ...input, field })

export const SCHEDULE_FLAGS = {
  start: filling('starts_at', text('When the schedule begins, ISO 8601 (default now)', { placeholder: 'TIME' })),
  cliff: filling(
    'cliff_at',
    text('When the first part unlocks: a time, or a span after the start such as 365d (default at the start)', {
      placeholder: 'TIME|SPAN',
    }),
  ),
  cliff_amount: text('What unlocks at the cliff: whole tokens, or a share such as 25% (default what does not divide)', {
    placeholder: 'AMOUNT',
  }),
  periods: integer('Equal parts after the cliff (default none: everything unlocks at the cliff)', { min: 1 }),
  frequency: text('Length of a period, such as 30d: s, min, h, d, w, or y of 365 days', { placeholder: 'SPAN' }),
}

/** The texts of one schedule; empty texts count as missing. */
export interface ScheduleTexts {
  amount: string
  start?: string | undefined
  cliff?: string | undefined
  cliff_amount?: string | undefined
  periods?: string | undefined
  frequency?: string | undefined
}
export type ScheduleField = keyof ScheduleTexts

/** A schedule in Unix seconds and raw units, with the whole amount. */
export interface LockPlan extends LockSchedule {
  amount: bigint
  startTime: bigint
  /** Unix seconds by the clock of the chain, from which an open schedule counts. */
  now: bigint
}

export interface ScheduleTerms {
  /** 0 for raw units. */
  decimals: number
  /** Unix seconds for a schedule without a start. */
  now: bigint
  /** How a message calls a field, such as `--cliff`, which is also the param of the problem. */
  shown(field: ScheduleField): string
}

/** The last second of the year 9999, as the API takes it. */
const LAST_SECOND = 253_402_300_799n
const UNITS: Readonly<Record<string, number>> = {
  ...{ s: 1, min: 60, h: 3_600, d: DAY_SECONDS, w: 7 * DAY_SECONDS, y: 365 * DAY_SECONDS },
}
const A_TIME = 'a time in ISO 8601 with a zone'
/** What a cliff must be. */
export const TIME_OR_SPAN = `${A_TIME}, or a span such as 365d`
const SPAN = /^(\d{1,12})(s|min|h|d|w|y)$/
const SHARE = /^(\d{1,3})(?:\.(\d{1,6}))?%$/
/** Percent with six more digits. */
const WHOLE_SHARE = 100_000_000n

/** Throws a usage problem that names the field that is wrong. */
export function lockPlan(texts: ScheduleTexts, terms: ScheduleTerms): LockPlan {
  const { decimals, now, shown } = terms
  const refuse = (field: ScheduleField, fault: string) => usage(`${shown(field)} ${fault}`, { param: shown(field) })
  const given = (field: ScheduleField) => texts[field] || undefined

  const amount = rawUnits(texts.amount, decimals, shown('amount'))
  if (amount === 0n) throw refuse('amount', 'must be more than 0')
  if (amount > MAX_U64) throw refuse('amount', 'is more than a token account can hold')

  const typedStart = given('start')
  const startTime = typedStart === undefined ? now : momentOf(typedStart)
  if (startTime === null) throw refuse('start', momentFault(typedStart ?? '', A_TIME))
  const typedCliff = given('cliff')
  const span = typedCliff === undefined ? 0n : spanOf(typedCliff)
  const cliffTime = span === null ? momentOf(typedCliff ?? '') : startTime + span
  if (cliffTime === null) {
    throw refuse('cliff', momentFault(typedCliff ?? '', TIME_OR_SPAN))
  }
  if (startTime < 0n) throw refuse('start', 'is before 1970')
  if (cliffTime < startTime) throw refuse('cliff', 'is before the start')

  const typedPeriods = given('periods')
  const periods = typedPeriods === undefined ? 0n : /^\d{1,15}$/.test(typedPeriods) ? BigInt(typedPeriods) : null
  if (periods === null) throw refuse('periods', `must be a whole number, not "${typedPeriods}"`)
  const typedFrequency = given('frequency')
  const frequency = typedFrequency === undefined ? null : spanOf(typedFrequency)
  if (typedFrequency !== undefined && (frequency === null || frequency === 0n)) {
    throw refuse('frequency', `must be a span such as 30d or 12h, not "${typedFrequency}"`)
  }
  if (periods > 0n && frequency === null) throw refuse('frequency', 'is missing: how long is each period?')
  if (periods === 0n && frequency !== null) throw refuse('periods', 'is missing: how many periods follow the cliff?')

  const typedCliffAmount = given('cliff_amount')
  const wanted = typedCliffAmount === undefined ? null : partOf(typedCliffAmount, amount, decimals, shown)
  if (wanted !== null && wanted > amount) throw refuse('cliff_amount', 'is more than the amount')
  if (wanted !== null && periods === 0n && wanted !== amount) {
    throw refuse('cliff_amount', 'is only a part, and without periods everything unlocks at the cliff')
  }
  const { cliffAmount, amountPerPeriod } = splitLock({ amount, cliffAmount: wanted ?? 0n, periods })
  if (periods > 0n && amountPerPeriod === 0n) throw refuse('periods', 'is more than the raw units after the cliff')
  if (cliffTime + (frequency ?? 0n) * periods > LAST_SECOND) {
    throw refuse(periods > 0n ? 'periods' : 'cliff', 'reaches beyond the year 9999')
  }
  return { amount, now, startTime, cliffTime, cliffAmount, amountPerPeriod, periods, frequency: frequency ?? 1n }
}

/** Raw units of an amount, or of a share of the whole, rounded down. */
function partOf(typed: string, whole: bigint, decimals: number, shown: ScheduleTerms['shown']): bigint {
  const [, percent, fraction = ''] = SHARE.exec(typed) ?? []
  if (percent === undefined) return rawUnits(typed, decimals, shown('cliff_amount'))
  return (whole * BigInt(percent + fraction.padEnd(6, '0'))) / WHOLE_SHARE
}

/** Seconds of a span; null for another text. */
export function spanOf(typed: string): bigint | null {
  const [, count, unit] = SPAN.exec(typed) ?? []
  return count === undefined ? null : BigInt(count) * BigInt(UNITS[unit ?? ''] ?? 0)
}

/** Unix seconds of a time with a zone, or of the beginning of a date in UTC; null for another text. */
export function momentOf(typed: string): bigint | null {
  const at = calendarMoment(typed)
  return at === null ? null : BigInt(Math.floor(at / 1000))
}

/** The fields of the schedule in a request. */
export const scheduleFields = (plan: LockPlan) => ({
  amount: String(plan.amount),
  starts_at: isoOf(plan.startTime),
  cliff_at: isoOf(plan.cliffTime),
  ...(plan.periods === 0n
    ? {}
    : {
        cliff_amount: String(plan.cliffAmount),
        frequency: Number(plan.frequency),
        periods: Number(plan.periods),
      }),
})

export const isoOf = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString()

const [EPOCH_AT, TIMESTAMP_AT, CLOCK_BYTES] = [16, 32, 40]

/** Unix seconds and the epoch of the chain's clock, as the API reads it. */
export async function chainClock({ client }: Pick<Session, 'client'>): Promise<{ now: bigint; epoch: bigint }> {
  const { data } = (await client.accounts.get({ address: CLOCK_SYSVAR })).data
  const bytes = Buffer.from(data ?? '', 'base64')
  if (bytes.length < CLOCK_BYTES) throw new Problem('internal_error', "the API does not show the chain's clock")
  return { now: bytes.readBigInt64LE(TIMESTAMP_AT), epoch: bytes.readBigUInt64LE(EPOCH_AT) }
}

export const chainNow = async (session: Pick<Session, 'client'>): Promise<bigint> => (await chainClock(session)).now

/** How the messages of a command call a field of a schedule. */
export const flagOf = (field: string) => (field === 'amount' ? '<amount>' : `--${field.replaceAll('_', '-')}`)
