/** `svc locks plan`: what unlocks when, of a schedule, a list or a lock on chain, as a table, a drawing and a CSV. */
import type { LockRead } from '../../src/api/locks.ts'
import { paths } from '../../src/api/paths.ts'
import { endOf, nextUnlock, totalOf, unlockedAt } from '../../src/solana/lock-schedule.ts'
import { Amount, groupedDecimalOf, ratioOf } from '../cli/amounts.ts'
import { integer, mintAddress, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import { isoOf } from '../cli/typed-times.ts'
import { writeRows } from '../ledger/csv.ts'
import { columnInputs } from '../lists/column-flags.ts'
import type { CommandOutcome } from '../outcome.ts'
import { mintState } from '../signing/token-state.ts'
import { type Drawing, drawingLines, drawingSvg, writePicture } from '../ui/drawing.ts'
import { SVG } from '../ui/drawing-flags.ts'
import { usage } from '../ui/problem.ts'
import { lockAddress, readLock } from './acts.ts'
import { LOCK_LIST_FLAGS, readLockRows } from './list-rows.ts'
import { chainClock, flagOf, type LockPlan, lockPlan, SCHEDULE_FLAGS, usualTexts } from './schedule.ts'

/** Decimals of tokens that svc makes by default. */
const USUAL_DECIMALS = 6
/** The most lines that a terminal shows of a schedule. */
const MOST_SHOWN = 24

export const planVerb = verb({
  about: 'Show what unlocks when, for planned locks or for one on chain',
  details:
    'The CSV has a line for each unlock, with dates in UTC and amounts in whole tokens. Beyond 10,000 unlocks a line is a day, a month or a year, and still adds up to the unit. With --from it is the sum of all rows, for which the flags stand as in `svc locks create --from`. For a lock on chain, claimable is what can be claimed at that moment if nothing more is claimed before.',
  calls: [paths.locks.get, paths.accounts.get],
  args: { amount: requiredUnless(['lock', 'from'], text('Whole tokens, like 1000 or 0.5', { placeholder: 'AMOUNT' })) },
  flags: {
    lock: {
      ...lockAddress('A lock on chain, instead of an amount and a schedule'),
      conflicts: ['from', 'amount', 'mint', 'decimals', ...Object.keys(SCHEDULE_FLAGS)],
    },
    from: text('CSV with a lock for each row, instead of an amount', {
      placeholder: 'FILE',
      existing: true,
      conflicts: ['amount'],
    }),
    ...LOCK_LIST_FLAGS,
    ...SCHEDULE_FLAGS,
    mint: mintAddress('Mint whose decimals count', { conflicts: ['decimals'] }),
    decimals: integer(`Decimals without --mint (default ${USUAL_DECIMALS})`, { min: 0, max: 255 }),
    raw: toggle('Amounts are raw units, not whole tokens'),
    svg: SVG,
    csv: text('Write the schedule for accountants (CSV), or - for standard output', { placeholder: 'FILE' }),
  },
  examples: [
    'svc locks plan 48000 --cliff 365d --cliff-amount 25% --periods 36 --frequency 30d',
    'svc locks plan --from team.csv --cliff 365d --periods 36 --frequency 30d --csv vesting.csv',
    'svc locks plan --lock GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --svg vesting.svg --csv vesting.csv',
  ],
  async run({ lock: address, from, amount, mint, decimals: given, raw, svg, csv, allow_repeats, ...flags }, session) {
    if (address !== undefined) {
      const lock = await readLock(session, address)
      const { now } = await chainClock(session)
      return outcomeOf({ plans: [planOf(lock, now)], decimals: lock.decimals ?? 0, now, lock }, { svg, csv })
    }
    const decimals = mint === undefined ? (given ?? USUAL_DECIMALS) : (await mintState(session, mint)).decimals
    const now = mint === undefined ? BigInt(Math.floor(session.clock.now() / 1000)) : (await chainClock(session)).now
    const usual = usualTexts(flags)
    const units = { decimals: raw ? 0 : decimals, now }
    if (from === undefined) {
      const plan = lockPlan({ ...usual, amount: amount ?? '' }, { ...units, shown: flagOf })
      return outcomeOf({ plans: [plan], decimals, now, lock: null }, { svg, csv })
    }
    const reading = { isRaw: raw, mint, columns: columnInputs(flags), allowsRepeats: allow_repeats }
    const { rows } = await readLockRows(session.ui, from, { ...units, ...reading, usual })
    const plans = rows.map(({ plan }) => plan)
    return outcomeOf({ plans, decimals, now, lock: null }, { svg, csv })
  },
})

/** The schedule of a lock on chain; a time beyond the year 9999 cannot be drawn. */
function planOf(lock: LockRead, now: bigint): LockPlan {
  const seconds = (moment: string | null) => {
    if (moment === null) throw usage('the schedule of this lock goes beyond the year 9999', { param: '--lock' })
    return BigInt(Math.floor(Date.parse(moment) / 1000))
  }
  seconds(lock.ends_at)
  return {
    amount: BigInt(lock.amount),
    now,
    startTime: seconds(lock.starts_at),
    cliffTime: seconds(lock.cliff_at),
    cliffAmount: BigInt(lock.cliff_amount),
    frequency: BigInt(lock.frequency),
    periods: BigInt(lock.periods),
    amountPerPeriod: BigInt(lock.amount_per_period),
  }
}

interface Planned {
  plans: readonly LockPlan[]
  decimals: number
  now: bigint
  /** Null for a lock that does not exist yet. */
  lock: LockRead | null
}

const UNLOCK_COLUMNS = ['date', 'unlocked', 'cumulative', 'claimable'] as const

async function outcomeOf(
  { plans, decimals, now, lock }: Planned,
  { svg, csv }: { svg: string | undefined; csv: string | undefined },
): Promise<CommandOutcome> {
  const { each, unlocks } = unlocksOf(plans)
  const amount = plans.reduce((sum, plan) => sum + plan.amount, 0n)
  const claimed = BigInt(lock?.claimed ?? 0)
  const claimable = ({ cumulative }: Unlock) => (cumulative > claimed ? cumulative - claimed : 0n)
  const cellsOf = <T>(unlock: Unlock, date: string, cell: (raw: bigint) => T) => {
    return [date, ...[unlock.unlocked, unlock.cumulative, claimable(unlock)].map(cell)] as const
  }
  const whole = (raw: bigint) => new Amount(raw, decimals)
  const cells = (unlock: Unlock) => cellsOf(unlock, isoOf(unlock.at), whole)
  const written = { columns: UNLOCK_COLUMNS, rows: unlocks, cells }
  if (csv === '-') {
    await writeRows('-', written)
    return { data: undefined, rows: { columns: [], rows: [] } }
  }
  const title = `Unlocked of ${groupedDecimalOf(amount, decimals)}`
  const drawing = unlockDrawing(plans, { title, decimals, now })
  const notes = svg === undefined ? [] : writePicture(svg, drawingSvg(drawing))
  if (csv !== undefined) {
    await writeRows(csv, written)
    notes.push(`The schedule is in ${csv}.`)
  }
  const shown = unlocks.length <= MOST_SHOWN ? unlocks : [...unlocks.slice(0, MOST_SHOWN - 2), ...unlocks.slice(-1)]
  const hidden = unlocks.length - shown.length
  if (hidden > 0) notes.push(`${hidden} more are between the last two: --csv FILE has all of them.`)
  if (each !== 'unlock') notes.push(`A line is a ${each}: there are more than 10,000 unlocks.`)
  const rows = unlocks.map((unlock) => cellsOf(unlock, isoOf(unlock.at), String))
  return {
    data: {
      ...(lock === null
        ? {}
        : { lock: lock.address, mint: lock.mint, claimed: lock.claimed, claimable: lock.claimable }),
      decimals,
      amount: String(amount),
      ...termsShown(plans),
      each,
      unlocks: rows.map(([at, unlocked, cumulative, free]) => ({ at, unlocked, cumulative, claimable: free })),
    },
    rows: { columns: UNLOCK_COLUMNS, rows },
    table: {
      columns: UNLOCK_COLUMNS,
      rows: shown.map((unlock) => cellsOf(unlock, dateText(unlock.at, each), whole)),
    },
    drawing: drawingLines(drawing),
    notes,
  }
}

/** The terms of one lock, or the number of several. */
function termsShown(plans: readonly LockPlan[]): Record<string, unknown> {
  const [plan] = plans
  if (plan === undefined || plans.length > 1) return { locks: plans.length }
  return {
    starts_at: isoOf(plan.startTime),
    cliff_at: isoOf(plan.cliffTime),
    cliff_amount: String(plan.cliffAmount),
    frequency: String(plan.frequency),
    periods: String(plan.periods),
    amount_per_period: String(plan.amountPerPeriod),
  }
}

/** Dates are UTC, as in the CSV. */
const dateText = (at: bigint, each: UnlockSpan) => {
  const iso = isoOf(at)
  return each === 'unlock' && !iso.endsWith('T00:00:00.000Z')
    ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
    : iso.slice(0, 10)
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
