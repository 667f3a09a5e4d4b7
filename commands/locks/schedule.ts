/** The schedule of a lock as people type it (times, spans such as 30d, shares), and what unlocks when in words. */
import { formatDuration } from '../../src/api/durations.ts'
import {
  checkedSchedule,
  endOf,
  type LockSchedule,
  type ScheduleField,
  unlocksAtOnce,
} from '../../src/solana/lock-schedule.ts'
import { CLOCK_SYSVAR } from '../../src/solana/program-ids.ts'
import { SYSVAR } from '../../src/solana/programs/sysvar.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { groupedDecimalOf, rawUnits } from '../cli/amounts.ts'
import { type InputValues, integer, text } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { isoOf, requireMoment, requireMomentFrom, requireSpan } from '../cli/typed-times.ts'
import { previewLines } from '../signing/preview.ts'
import { Problem, usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'

export const SCHEDULE_FLAGS = {
  start: text('When the schedule begins, ISO 8601 (default now)', { placeholder: 'TIME', field: 'starts_at' }),
  cliff: text('When the first part unlocks: a time, or a span after the start such as 365d (default at the start)', {
    placeholder: 'TIME|SPAN',
    field: 'cliff_at',
  }),
  cliff_amount: text('What unlocks at the cliff: whole tokens, or a share such as 25% (default what does not divide)', {
    placeholder: 'AMOUNT',
  }),
  periods: integer('Equal parts after the cliff (default none: everything unlocks at the cliff)', { min: 1 }),
  frequency: text('Length of a period, such as 30d: s, min, h, d, w, or y of 365 days', { placeholder: 'SPAN' }),
}

/** The texts of one schedule. */
export type ScheduleTexts = { amount: string } & { [Field in Exclude<ScheduleField, 'amount'>]?: string | undefined }

/** The texts of the flags, which stand for empty cells of a list. */
export const usualTexts = ({ start, cliff, cliff_amount, periods, frequency }: InputValues<typeof SCHEDULE_FLAGS>) => ({
  start,
  cliff,
  cliff_amount,
  frequency,
  periods: periods === undefined ? undefined : String(periods),
})

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

const SHARE = /^(\d{1,3})(?:\.(\d{1,6}))?%$/
/** Percent with six more digits. */
const WHOLE_SHARE = 100_000_000n

/** Throws a usage problem that names the field that is wrong. Empty texts count as missing. */
export function lockPlan(texts: ScheduleTexts, { decimals, now, shown }: ScheduleTerms): LockPlan {
  const refuse = (field: ScheduleField, fault: string) => usage(`${shown(field)} ${fault}`, { param: shown(field) })
  const { start, cliff, cliff_amount: part, periods, frequency } = texts
  const amount = rawUnits(texts.amount, decimals, shown('amount'))
  if (amount === 0n) throw refuse('amount', 'must be more than 0')
  if (amount > MAX_U64) throw refuse('amount', 'is more than a token account can hold')
  const startTime = start ? requireMoment(start, shown('start')) : now
  const cliffTime = cliff ? requireMomentFrom(cliff, shown('cliff'), startTime) : startTime
  if (periods && !/^\d{1,15}$/.test(periods)) throw refuse('periods', `must be a whole number, not "${periods}"`)
  const asked = {
    amount,
    startTime,
    cliffTime,
    // With 0 there are no periods.
    periods: BigInt(periods || 0) || null,
    frequency: frequency ? requireSpan(frequency, shown('frequency')) : null,
    cliffAmount: part ? partOf(part, amount, decimals, shown) : null,
  }
  return { amount, now, ...checkedSchedule(asked, refuse) }
}

/** Raw units of an amount, or of a share of the whole, rounded down. */
function partOf(typed: string, whole: bigint, decimals: number, shown: ScheduleTerms['shown']): bigint {
  const [, percent, fraction = ''] = SHARE.exec(typed) ?? []
  if (percent === undefined) return rawUnits(typed, decimals, shown('cliff_amount'))
  return (whole * BigInt(percent + fraction.padEnd(6, '0'))) / WHOLE_SHARE
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

/** Unix seconds and the epoch of the chain's clock, as the API reads it. */
export async function chainClock({ client }: Pick<Session, 'client'>): Promise<{ now: bigint; epoch: bigint }> {
  const { owner, data } = (await client.accounts.get({ address: CLOCK_SYSVAR })).data
  const clock = SYSVAR.decode('clock', { owner, data: Buffer.from(data ?? '', 'base64') })
  if (clock === null) throw new Problem('internal_error', "the API does not show the chain's clock")
  return { now: clock.unixTimestamp, epoch: clock.epoch }
}

/** How the messages of a command call a field of a schedule. */
export const flagOf = (field: string) => (field === 'amount' ? '<amount>' : `--${field.replaceAll('_', '-')}`)

/** Lines of a preview: what unlocks at the cliff, and after it. */
export function scheduleLines(plan: LockPlan, decimals: number): string[] {
  const { cliffTime, cliffAmount, amountPerPeriod, periods, frequency, startTime } = plan
  const whole = (raw: bigint) => groupedDecimalOf(raw, decimals)
  const at = (seconds: bigint) => timeText(isoOf(seconds))
  const each = `${whole(amountPerPeriod)} after each ${formatDuration(Number(frequency))}`
  const unlocks = [
    cliffAmount > 0n && `${whole(cliffAmount)} at ${at(cliffTime)}`,
    periods > 0n && `${each}, ${periods} times, until ${at(endOf(plan))}`,
    unlocksAtOnce(plan) && `${releaseText(plan)}; no periods follow`,
  ]
  return previewLines({
    starts: cliffTime !== startTime && at(startTime),
    unlocks: unlocks.filter((line) => line !== false),
  })
}

/** Says when a lock that unlocks everything in one moment does so. */
const releaseText = ({ cliffTime, now }: LockPlan): string =>
  cliffTime <= now ? 'everything at once, so that nothing is locked' : `everything at ${timeText(isoOf(cliffTime))}`

/**
 * Throws a usage problem for locks that unlock everything in one moment, if nobody reads the preview and the flag does
 * not say that this is meant: a forgotten period would pay all of it early.
 */
export function requireSteps(
  plans: readonly (LockPlan & { line?: number })[],
  { isRead, isMeant }: { isRead: boolean; isMeant: boolean },
): void {
  const [first, ...others] = isRead || isMeant ? [] : plans.filter(unlocksAtOnce)
  if (first === undefined) return
  const row = first.line === undefined ? 'this lock unlocks' : `the lock of line ${first.line} unlocks`
  const more = others.length === 0 ? '' : ` (and ${counted(others.length, 'other row')})`
  throw usage(`${row} ${releaseText(first)}${more}; nothing was signed`, {
    param: '--all-at-once',
    next: 'add --periods and --frequency, or --all-at-once if this is meant',
  })
}
