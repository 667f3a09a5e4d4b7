/** Reads the CSV of `svc locks create --from`, in the words of other tools too: a lock for each row, and every fault with its place. */
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import { type ColumnRole, roleOf } from '../../src/merkle/column-names.ts'
import type { ListForm } from '../../src/merkle/column-plan.ts'
import { toggle } from '../cli/command.ts'
import { isoOf, momentOf, spanOf } from '../cli/typed-times.ts'
import { type ColumnInputs, columnChoices, columnFlags } from '../lists/column-flags.ts'
import { type PlacedFault, type PlacedRow, readListRows } from '../lists/csv.ts'
import { Problem, usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { type LockPlan, lockPlan, type ScheduleTexts } from './schedule.ts'

export interface LockRow {
  wallet: string
  plan: LockPlan
  line: number
}

/** What makes a row this one. */
export const rowContent = ({ wallet, plan }: Pick<LockRow, 'wallet' | 'plan'>): string[] => {
  const schedule = [plan.startTime, plan.cliffTime, plan.cliffAmount, plan.frequency, plan.periods]
  return [wallet, ...[plan.amount, ...schedule].map(String)]
}

/** The columns of a file without a header, in this order. */
const LOCK_COLUMNS = ['wallet', 'amount', 'start', 'cliff', 'periods', 'frequency', 'cliff_amount'] as const

const LOCK_FORM: ListForm = {
  reads: [
    ...LOCK_COLUMNS,
    ...(['cliff_months', 'cliff_days', 'lockup', 'end', 'period_amount', 'cancel_mode', 'recipient_mode'] as const),
  ],
  needs: ['wallet', 'amount'],
  schedule:
    'write it as start, cliff (or cliff_months, cliff_days), periods and frequency, or as start, cliff, end and installment',
}
/** Jupiter's own command line has no amount: the cliff and n periods add up to it. */
const PERIOD_FORM: ListForm = { ...LOCK_FORM, needs: ['wallet', 'periods', 'period_amount'] }

const formOf = (names: readonly string[]): ListForm =>
  names.some((name) => roleOf(name) === 'period_amount') && !names.some((name) => roleOf(name) === 'amount')
    ? PERIOD_FORM
    : LOCK_FORM

export const LOCK_LIST_FLAGS = {
  ...columnFlags,
  allow_repeats: toggle('With --from: the same lock may be in the list twice, and is made twice', { needs: ['from'] }),
}

export interface ListUnits {
  decimals: number
  /** Unix seconds for rows without a start. */
  now: bigint
  /** The schedule of a row with empty cells. */
  usual: Omit<ScheduleTexts, 'amount'>
  /** Whether amounts are raw units. */
  isRaw: boolean
  /** The mint that a column of tokens must name. */
  mint?: string | undefined
  columns: ColumnInputs
  /** Whether the same lock may be in the list twice. */
  allowsRepeats: boolean
  /** Who may end the locks and change their recipients, which a column must not say otherwise. */
  modes?: { cancel_mode: readonly string[]; recipient_mode: readonly string[] }
}

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
export function readLockRows(ui: Ui, file: string, units: ListUnits) {
  const format = {
    form: LOCK_FORM,
    formOf,
    choices: columnChoices({ ...units.columns, mint: units.mint }),
    example: 'wallet,amount',
    withoutHeader: (cells: number) => LOCK_COLUMNS.slice(0, Math.min(LOCK_COLUMNS.length, Math.max(2, cells))),
  }
  const seen = new Map<string, number>()
  let count = 0
  return readListRows(ui, file, format, (place, faults) => {
    const found = lockRow(place, units, faults)
    count++
    for (const row of units.allowsRepeats ? [] : found) {
      const { wallet } = row
      const key = rowContent(row).join(' ')
      const earlier = seen.get(key)
      seen.set(key, earlier ?? count)
      if (earlier === undefined) continue
      const message = `${wallet} has this very lock already in row ${earlier}: remove one, or say --allow-repeats if both are meant`
      faults.push({ offset: place.offsetOf('wallet'), message })
    }
    return found
  })
}

/** The row, or none if it has a fault, which is added. */
function lockRow(
  { fields, offset, offsetOf }: PlacedRow,
  { decimals, now, usual, isRaw, modes }: ListUnits,
  faults: PlacedFault[],
) {
  const cell = (column: ColumnRole) => String(fields.get(column)?.value ?? '')
  const wallet = cell('wallet')
  if (walletKey(wallet) === undefined) {
    faults.push({
      offset: offsetOf('wallet'),
      message: wallet === '' ? 'the wallet is missing' : `the wallet is not one: ${walletFault(wallet)}`,
    })
    return []
  }
  try {
    for (const role of ['cancel_mode', 'recipient_mode'] as const) {
      const said = cell(role).toLowerCase()
      if (said === '' || modes === undefined || modes[role].includes(said)) continue
      const flag = role === 'cancel_mode' ? '--cancellable-by' : '--recipient-changeable-by'
      throw rowFault(
        role,
        `the row says ${said}, and all locks of a list have the terms of ${flag} (${modes[role].at(-1)})`,
      )
    }
    const texts = rowTexts(cell, { usual, now, isRaw })
    const plan = lockPlan(texts, { decimals, now, shown: (field) => `the ${field}` })
    return [{ wallet, plan, offset }]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    faults.push({ offset: offsetOf(error.param?.replace('the ', '') ?? 'amount'), message: error.message })
    return []
  }
}

/** What is wrong with a row, and its column. */
const rowFault = (role: ColumnRole, message: string) => usage(message, { param: role })

interface RowTerms {
  usual: Omit<ScheduleTexts, 'amount'>
  /** Unix seconds for a row without a start. */
  now: bigint
  isRaw: boolean
}

const MONTHS = /^(\d{1,4}) ?(?:mo|mos|months?)$/i
const SPANS = /^(\d{1,6}) ?(days?|weeks?|years?)$/i
/** Months of an installment in words. */
const EVERY: Readonly<Record<string, number>> = { monthly: 1, quarterly: 3, yearly: 12, annually: 12 }
const SPANS_OF: Readonly<Record<string, string>> = { daily: '1d', weekly: '7d' }

/** The texts of the schedule as `lockPlan` reads them. Throws a usage problem that names the column for what does not go together. */
export function rowTexts(cell: (role: ColumnRole) => string, { usual, now, isRaw }: RowTerms): ScheduleTexts {
  const given = (role: ColumnRole) => cell(role) || undefined
  const start = timeText(given('start') ?? usual.start)
  const startAt = start === undefined ? now : momentOf(start)
  const cliffs = (['cliff', 'cliff_months', 'cliff_days', 'lockup'] as const).filter((role) => cell(role) !== '')
  const [role, other] = cliffs
  if (role !== undefined && other !== undefined)
    throw rowFault(other, `the row has both ${role} and ${other}: when does the first part unlock?`)
  const cliff = role === undefined ? timeText(usual.cliff) : cliffText(role, cell(role), startAt)
  const [period, frequency] = [given('period_amount'), given('frequency')]
  const texts = {
    start,
    cliff,
    cliff_amount: given('cliff_amount') ?? usual.cliff_amount,
    periods: given('periods') ?? usual.periods,
    frequency: frequency ?? usual.frequency,
  }
  const end = given('end')
  // Jupiter's command line counts its periods in seconds.
  const seconds = period !== undefined && /^\d{1,12}$/.test(frequency ?? '') ? { frequency: `${frequency}s` } : {}
  const ended = end === undefined ? texts : { ...texts, ...untilEnd({ ...texts, end, startAt }) }
  const spans = ended.frequency === undefined ? {} : { frequency: installmentSpan(ended.frequency) }
  const whole = { ...ended, ...spans, ...seconds }
  if (period === undefined) return { ...whole, amount: cell('amount') }
  return { ...whole, amount: summed(cell, { period, cliffAmount: texts.cliff_amount, periods: texts.periods, isRaw }) }
}

/** cliff + n × period, all in raw units. */
function summed(
  cell: (role: ColumnRole) => string,
  of: { period: string; cliffAmount: string | undefined; periods: string | undefined; isRaw: boolean },
): string {
  if (!of.isRaw)
    throw rowFault(
      'period_amount',
      "amounts per period are raw units, as Jupiter's command line writes them: give --raw",
    )
  const digits = { period_amount: of.period, cliff_amount: of.cliffAmount ?? '0', periods: of.periods ?? '' }
  for (const [role, text] of Object.entries(digits)) {
    if (!/^\d{1,20}$/.test(text))
      throw rowFault(role as ColumnRole, `the ${role.replace('_', ' ')} must be a whole number, not "${text}"`)
  }
  const total = BigInt(digits.cliff_amount) + BigInt(digits.periods) * BigInt(digits.period_amount)
  const said = cell('amount')
  if (said !== '' && said !== String(total))
    throw rowFault('amount', `the amount is ${said}, and the cliff with ${digits.periods} periods comes to ${total}`)
  return String(total)
}

/** A time, also one in Unix seconds. */
const timeText = (text: string | undefined): string | undefined =>
  text !== undefined && /^\d{9,11}$/.test(text) ? isoOf(BigInt(text)) : text

function cliffText(role: 'cliff' | 'cliff_months' | 'cliff_days' | 'lockup', text: string, startAt: bigint | null) {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : null
  if (role === 'cliff_days') {
    if (count === null) throw rowFault(role, `the cliff must be a number of days, not "${text}"`)
    return `${count}d`
  }
  if (role === 'cliff_months') {
    if (count === null) throw rowFault(role, `the cliff must be a number of months, not "${text}"`)
    return startAt === null ? text : isoOf(monthsAfter(startAt, count))
  }
  if (count !== null)
    throw rowFault(role, `the cliff is ${text}: days or months? name the column cliff_days or cliff_months`)
  const months = MONTHS.exec(text)?.[1]
  if (months !== undefined && startAt !== null) return isoOf(monthsAfter(startAt, Number(months)))
  return spanText(text) ?? timeText(text) ?? text
}

/** `12 days` as a span; null for another text. */
function spanText(text: string): string | null {
  const [, count, unit] = SPANS.exec(text) ?? []
  return count === undefined ? null : `${count}${unit?.[0]?.toLowerCase()}`
}

/** The span of an installment in words; another text stays as it is. */
function installmentSpan(text: string): string {
  if (EVERY[text.toLowerCase()] !== undefined || MONTHS.test(text))
    throw rowFault(
      'frequency',
      `"${text}" has no fixed length: give a span such as 30d, or the column end, which makes equal parts`,
    )
  return SPANS_OF[text.toLowerCase()] ?? spanText(text) ?? text
}

interface UntilEnd extends Partial<Record<'cliff' | 'periods' | 'frequency', string | undefined>> {
  end: string
  startAt: bigint | null
}

/** Number and length of the periods between the cliff and the end. */
function untilEnd({ end, startAt, cliff, periods, frequency }: UntilEnd) {
  const text = timeText(end) ?? end
  const endAt = momentOf(text)
  if (endAt === null) throw rowFault('end', `the end must be a date such as 2028-12-31, not "${end}"`)
  const span = cliff === undefined ? 0n : spanOf(cliff)
  const from = span === null ? momentOf(cliff ?? '') : startAt === null ? null : startAt + span
  if (from === null) return {}
  if (endAt <= from) throw rowFault('end', 'the end is not after the cliff')
  if (frequency === undefined && periods === undefined)
    throw rowFault(
      'end',
      'how often is something unlocked until the end? give installment (a span such as 30d) or periods',
    )
  const count =
    periods === undefined ? installments(frequency ?? '', from, endAt) : BigInt(/^\d{1,9}$/.test(periods) ? periods : 0)
  if (count <= 0n) throw rowFault('periods', `the periods must be a whole number, not "${periods}"`)
  const length = (endAt - from) / count
  if (length * count !== endAt - from)
    throw rowFault('end', `${count} equal parts do not end at ${text}: give periods and frequency`)
  if (periods !== undefined && frequency !== undefined && spanOf(installmentSpan(frequency)) !== length)
    throw rowFault('end', 'end, periods and frequency do not agree: leave one of them out')
  return { periods: String(count), frequency: `${length}s` }
}

/** How many installments fit between two moments. */
function installments(text: string, from: bigint, endAt: bigint): bigint {
  if (/^\d+$/.test(text))
    throw rowFault(
      'frequency',
      `the installment is ${text}: how many, or how long? name the column installments, or give a span such as 30d`,
    )
  const each = EVERY[text.toLowerCase()] ?? Number(MONTHS.exec(text)?.[1] ?? 0)
  if (each > 0) {
    let count = 0
    while (monthsAfter(from, (count + 1) * each) <= endAt && count < 1_200) count++
    if (count > 0 && monthsAfter(from, count * each) === endAt) return BigInt(count)
    throw rowFault('frequency', `${text} installments do not end at the end: give periods and frequency`)
  }
  const span = spanOf(installmentSpan(text))
  if (span === null || span === 0n)
    throw rowFault('frequency', `the installment must be a span such as 30d, or monthly, not "${text}"`)
  if ((endAt - from) % span !== 0n)
    throw rowFault('frequency', `installments of ${text} do not end at the end: give periods and frequency`)
  return (endAt - from) / span
}

/** The same day and time some months later, in UTC; the last day of a month that has no such day. */
function monthsAfter(seconds: bigint, months: number): bigint {
  const at = new Date(Number(seconds) * 1000)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months]
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  at.setUTCFullYear(year, month, Math.min(at.getUTCDate(), last))
  return BigInt(Math.floor(at.getTime() / 1000))
}
