/** Reads the CSV of `svc locks create --from`: a lock for each row, and every fault with its line and column. */
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import { type PlacedFault, type PlacedRow, readRows } from '../lists/csv.ts'
import { Problem } from '../ui/problem.ts'
import { type LockPlan, lockPlan, type ScheduleField, type ScheduleTexts } from './schedule.ts'

export interface LockRow {
  wallet: string
  plan: LockPlan
  line: number
}

const LOCK_COLUMNS = ['wallet', 'amount', 'start', 'cliff', 'periods', 'frequency', 'cliff_amount'] as const

const CSV_COLUMNS = {
  all: LOCK_COLUMNS,
  needed: ['wallet', 'amount'],
  withoutHeader: (cells: number) => LOCK_COLUMNS.slice(0, Math.max(2, cells)),
}

export interface ListUnits {
  decimals: number
  /** Unix seconds for rows without a start. */
  now: bigint
  /** The schedule of a row with empty cells. */
  usual: Omit<ScheduleTexts, 'amount'>
}

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
export const readLockRows = (file: string, units: ListUnits): Promise<LockRow[]> =>
  readRows(file, CSV_COLUMNS, 'wallet,amount', (row, faults) => lockRow(row, units, faults))

/** The row, or none if it has a fault, which is added. */
function lockRow({ fields, offset, offsetOf }: PlacedRow, { decimals, now, usual }: ListUnits, faults: PlacedFault[]) {
  const cell = (column: (typeof LOCK_COLUMNS)[number]) => String(fields.get(column)?.value ?? '')
  const wallet = cell('wallet')
  if (walletKey(wallet) === undefined) {
    faults.push({
      offset: offsetOf('wallet'),
      message: wallet === '' ? 'the wallet is missing' : `the wallet is not one: ${walletFault(wallet)}`,
    })
    return []
  }
  const texts = (['start', 'cliff', 'periods', 'frequency', 'cliff_amount'] as const).map(
    (column) => [column, cell(column) || usual[column]] as const,
  )
  try {
    const plan = lockPlan(
      { ...Object.fromEntries(texts), amount: cell('amount') },
      { decimals, now, shown: (field) => `the ${field}` },
    )
    return [{ wallet, plan, offset }]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const field = (error.param?.replace('the ', '') ?? 'amount') as ScheduleField
    faults.push({ offset: offsetOf(field), message: error.message })
    return []
  }
}
