/** Reads a CSV of mints, with what each of its rows says about a mint, and every fault with its line and column. */
import { walletKey } from '../../src/merkle/base58.ts'
import { readRows } from '../lists/csv.ts'
import { refuseStandardInput } from '../lists/run.ts'

interface MintCells<C extends string> {
  mint: string
  cells: Partial<Record<C, string>>
  line: number
}

interface MintColumns<C extends string> {
  /** After the mint. */
  columns: readonly C[]
  /** Columns that every row has. */
  needed?: readonly C[]
  /** Columns that tell the rows of one mint apart; without any, a mint is in the list once. */
  keys?: readonly C[]
  /** What is wrong with a row, and its column. */
  fault?(cells: Partial<Record<C, string>>): { column: C | 'mint'; message: string } | null
}

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
export async function readMintRows<C extends string>(
  file: string,
  { columns, needed = [], keys = [], fault }: MintColumns<C>,
): Promise<MintCells<C>[]> {
  refuseStandardInput(file, '--from')
  const known = new Set<string>()
  const all = ['mint', ...columns]
  const format = {
    all,
    needed: ['mint', ...needed],
    withoutHeader: (count: number) => all.slice(0, Math.max(1, count)),
  }
  return readRows(file, format, ['mint', ...needed].join(','), ({ fields, offset, offsetOf }, faults) => {
    const cells = Object.fromEntries(
      columns.flatMap((column) => (fields.has(column) ? [[column, String(fields.get(column)?.value)]] : [])),
    ) as Partial<Record<C, string>>
    const mint = String(fields.get('mint')?.value ?? '')
    const key = JSON.stringify([mint, ...keys.map((column) => cells[column])])
    const missing = needed.find((column) => cells[column] === undefined)
    const found =
      walletKey(mint) === undefined
        ? { column: 'mint', message: 'the mint is not an address' }
        : missing !== undefined
          ? { column: missing, message: `the ${missing} is missing` }
          : known.has(key)
            ? { column: 'mint', message: 'the mint is in the list twice' }
            : (fault?.(cells) ?? null)
    known.add(key)
    if (found === null) return [{ mint, cells, offset }]
    faults.push({ offset: offsetOf(found.column), message: found.message })
    return []
  })
}
