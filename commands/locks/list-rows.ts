/** Reads the CSV of `svc locks create --from`: a lock for each row, and every fault with its line and column. */
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import { type ColumnRole, roleOf } from '../../src/merkle/column-names.ts'
import type { ListForm } from '../../src/merkle/column-plan.ts'
import type { ScheduleField } from '../../src/solana/lock-schedule.ts'
import { toggle } from '../cli/command.ts'
import { type ColumnInputs, columnChoices, columnFlags, type ListNotes } from '../lists/column-flags.ts'
import { type PlacedFault, type PlacedRow, readListRows } from '../lists/csv.ts'
import { Problem } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { RowFault, rowTexts } from './row-schedule.ts'
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
  onRead?: ((notes: ListNotes) => void) | undefined
  /** Who may end the locks and change their recipients, which a column must not say otherwise. */
  modes?: { cancel_mode: readonly string[]; recipient_mode: readonly string[] }
}

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
export function readLockRows(ui: Ui, file: string, units: ListUnits): Promise<LockRow[]> {
  const format = {
    ...{ form: LOCK_FORM, formOf, choices: columnChoices({ ...units.columns, mint: units.mint }) },
    example: 'wallet,amount',
    onRead: units.onRead,
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
      throw new RowFault(
        role,
        `the row says ${said}, and all locks of a list have the terms of ${flag} (${modes[role].at(-1)})`,
      )
    }
    const texts = rowTexts(cell, { usual, now, isRaw })
    const plan = lockPlan(texts, { decimals, now, shown: (field) => `the ${field}` })
    return [{ wallet, plan, offset }]
  } catch (error) {
    if (error instanceof RowFault) {
      faults.push({ offset: offsetOf(error.role), message: error.message })
      return []
    }
    if (!(error instanceof Problem)) throw error
    const field = (error.param?.replace('the ', '') ?? 'amount') as ScheduleField
    faults.push({ offset: offsetOf(field), message: error.message })
    return []
  }
}
