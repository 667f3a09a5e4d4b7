/** Says in words what unlocks when, and draws it. */
import { formatDuration } from '../../src/api/durations.ts'
import { nextUnlock, totalOf, unlockedAt, unlocksAtOnce } from '../../src/solana/lock-schedule.ts'
import { groupedDecimalOf, ratioOf } from '../cli/amounts.ts'
import { previewLine } from '../signing/preview.ts'
import type { Drawing } from '../ui/drawing.ts'
import { usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { isoOf, type LockPlan } from './schedule.ts'

export const endOf = ({ cliffTime, frequency, periods }: Pick<LockPlan, 'cliffTime' | 'frequency' | 'periods'>) =>
  cliffTime + frequency * periods

/** Lines of a preview: what unlocks at the cliff, and after it. */
export function scheduleLines(plan: LockPlan, decimals: number): string[] {
  const { cliffTime, cliffAmount, amountPerPeriod, periods, frequency, startTime } = plan
  const whole = (raw: bigint) => groupedDecimalOf(raw, decimals)
  const at = (seconds: bigint) => timeText(isoOf(seconds))
  const cliff = cliffAmount === 0n ? [] : [`${whole(cliffAmount)} at ${at(cliffTime)}`]
  const steps =
    periods === 0n
      ? []
      : [
          `${whole(amountPerPeriod)} after each ${formatDuration(Number(frequency))}, ${periods} times, until ${at(endOf(plan))}`,
        ]
  const starts = cliffTime === startTime ? [] : [previewLine('starts', at(startTime))]
  const once = unlocksAtOnce(plan) ? [`${releaseText(plan)}; no periods follow`] : []
  return [...starts, ...[...cliff, ...steps, ...once].map((line, i) => previewLine(i === 0 ? 'unlocks' : '', line))]
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

/** One moment at which something unlocks. */
export interface Unlock {
  /** Unix seconds. */
  at: bigint
  unlocked: bigint
  cumulative: bigint
}

/** The most lines of a schedule; with more unlocks, a line is a day, a month or a year. */
const MOST_UNLOCKS = 10_000
/** How a line of a schedule is called. */
export type UnlockSpan = 'unlock' | 'day' | 'month' | 'year'

/** What unlocks when, of several schedules together; the sum is the whole amount to the unit. */
export function unlocksOf(plans: readonly LockPlan[]): { each: UnlockSpan; unlocks: Unlock[] } {
  const sums = eachUnlock(plans)
  const { each, at } = sums === null ? spansOf(plans) : { each: 'unlock' as const, at: [...sums.keys()].sort(byTime) }
  let cumulative = 0n
  const unlocks = at.flatMap((moment): Unlock[] => {
    const until = () => plans.reduce((sum, plan) => sum + unlockedAt(plan, moment), 0n)
    const unlocked = sums === null ? until() - cumulative : (sums.get(moment) ?? 0n)
    cumulative += unlocked
    return unlocked === 0n ? [] : [{ at: moment, unlocked, cumulative }]
  })
  return { each, unlocks }
}

const byTime = (a: bigint, b: bigint) => (a < b ? -1 : 1)

function spansOf(plans: readonly LockPlan[]): { each: UnlockSpan; at: bigint[] } {
  const first = plans.map(({ cliffTime }) => cliffTime).reduce((least, at) => (at < least ? at : least))
  const last = plans.map(endOf).reduce((most, at) => (at > most ? at : most))
  for (const each of ['day', 'month', 'year'] as const) {
    const at = boundaries(each, first, last)
    if (at !== null) return { each, at }
  }
  throw new Error('a schedule has more than 10,000 years')
}

/** What all of them unlock at each moment; null for more than 10,000 moments. */
function eachUnlock(plans: readonly LockPlan[]): Map<bigint, bigint> | null {
  const sums = new Map<bigint, bigint>()
  for (const plan of plans) {
    for (let next = nextUnlock(plan, -1n); next !== null; next = nextUnlock(plan, next.at)) {
      sums.set(next.at, (sums.get(next.at) ?? 0n) + next.amount)
      if (sums.size > MOST_UNLOCKS) return null
    }
  }
  return sums
}

/** The beginnings of the spans after `first`, up to the one that holds `last`, in UTC; null for more than 10,000. */
function boundaries(each: Exclude<UnlockSpan, 'unlock'>, first: bigint, last: bigint): bigint[] | null {
  const start = new Date(Number(first) * 1000)
  const at: bigint[] = []
  const [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()]
  for (let step = 1; at.length === 0 || (at.at(-1) ?? 0n) < last; step++) {
    if (at.length === MOST_UNLOCKS) return null
    const next =
      each === 'day'
        ? Date.UTC(year, month, day + step)
        : each === 'month'
          ? Date.UTC(year, month + step, 1)
          : Date.UTC(year + step, 0, 1)
    at.push(BigInt(next / 1000))
  }
  return at
}

/** The most steps of a drawing; more look like a line. */
const MOST_STEPS = 400

/** Draws the unlocked amount over time. `now` is marked if it is within it. */
export function unlockDrawing(
  plans: readonly LockPlan[],
  { title, decimals, now }: { title: string; decimals: number; now?: bigint },
): Drawing {
  const start = plans.map(({ startTime }) => startTime).reduce((least, at) => (at < least ? at : least))
  const last = plans.map(endOf).reduce((most, at) => (at > most ? at : most))
  // So that the last step is seen.
  const end = last + (last - start) / 20n + 1n
  const total = plans.reduce((sum, plan) => sum + totalOf(plan), 0n)
  const { unlocks } = unlocksOf(plans)
  const across = (at: bigint) => Math.min(1, ratioOf(at - start, end - start))
  const kept = unlocks.filter((_, i) => i % Math.ceil(unlocks.length / MOST_STEPS) === 0 || i === unlocks.length - 1)
  let height = 0
  const points = kept.flatMap(({ at, cumulative }) => {
    const before = height
    height = ratioOf(cumulative, total)
    return [
      { x: across(at), y: before },
      { x: across(at), y: height },
    ]
  })
  const day = (seconds: bigint) => isoOf(seconds).slice(0, 10)
  const sofar = now === undefined ? 0n : plans.reduce((sum, plan) => sum + unlockedAt(plan, now), 0n)
  const isWithin = now !== undefined && now > start && now < end
  return {
    kind: 'line',
    labels: {
      title,
      highest: groupedDecimalOf(total, decimals),
      lowest: '0',
      first: day(start),
      last: day(end),
    },
    points: [{ x: 0, y: 0 }, ...points, { x: 1, y: 1 }],
    ...(isWithin ? { mark: { x: across(now), y: ratioOf(sofar, total), text: 'now' } } : {}),
  }
}
