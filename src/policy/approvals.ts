/** What approvals permit: which rules wait, how far limits rise, and whether a moment is within the hours. */
import { WEEKDAYS, type Weekday } from '../platform/timing.ts'
import type { Approvals, Hours, MintLimit, SigningPolicy } from './policy.ts'

/** Rules that wait without a limit that could be raised. `operation` and `hours` always wait. */
const WAITING = ['authority', 'delegate', 'power', 'close'] as const

/** Whether the rule waits, whatever the amount is. An operation that waits by its name may use any power then. */
export function isWaiting(rule: string, { rules }: Approvals, operation?: string): boolean {
  if (rule === 'power' && rules.operations.some((each) => each === operation)) return true
  return rule === 'operation' || rule === 'hours' || WAITING.some((each) => each === rule && rules[each])
}

/** Returns the policy with the limits that approvals raise. A limit never falls. */
export function withApprovals(policy: SigningPolicy, { rules }: Approvals): SigningPolicy {
  const { destinations, lamports_per_transaction, lamports_per_day, tokens } = policy
  const limitOf = (mint: string): MintLimit =>
    tokens.find((each) => each.mint === mint) ?? { mint, per_transaction: 0n, per_day: 0n }
  const raised = rules.tokens.map(({ mint, per_transaction, per_day }) => {
    const limit = limitOf(mint)
    return {
      mint,
      per_transaction: larger(limit.per_transaction, per_transaction),
      per_day: larger(limit.per_day, per_day),
    }
  })
  return {
    ...policy,
    destinations: rules.destination ? null : destinations,
    lamports_per_transaction: larger(lamports_per_transaction, rules.lamports_per_transaction ?? 0n),
    lamports_per_day: larger(lamports_per_day, rules.lamports_per_day ?? 0n),
    tokens: [...tokens.filter(({ mint }) => !raised.some((each) => each.mint === mint)), ...raised],
  }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** Whether a moment, in Unix milliseconds, is within the hours. */
export function isWithin({ days, from, to, timezone }: Hours, at: number): boolean {
  const { day, time } = localTime(at, timezone)
  const isDay = days.includes(day)
  if (from < to) return isDay && from <= time && time < to
  return (isDay && from <= time) || (days.includes(dayBefore(day)) && time < to)
}

const dayBefore = (day: Weekday): Weekday =>
  WEEKDAYS[(WEEKDAYS.indexOf(day) + WEEKDAYS.length - 1) % WEEKDAYS.length] ?? day

/** Returns day and time of the wall clock in a time zone. Times compare as text. */
export function localTime(at: number, timezone: string): { day: Weekday; time: string } {
  const parts = formatOf(timezone).formatToParts(at)
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? ''
  const name = part('weekday').toLowerCase()
  const day = WEEKDAYS.find((each) => each === name)
  if (day === undefined) throw new Error(`the day ${name} is unknown`)
  return { day, time: `${part('hour')}:${part('minute')}` }
}

/** Formats are kept, because making one reads the time zone's data. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  formats.set(timezone, made)
  return made
}

/** Whether the name is that of a time zone. */
export function isTimezone(name: string): boolean {
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}
