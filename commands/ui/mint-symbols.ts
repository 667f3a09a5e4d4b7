/** Finds the symbols of mints, and adds them beside the mints in tables for a terminal. */
import type { TokenLabelBatch } from '../../src/api/tokens.ts'
import { withTimeout } from '../../src/platform/timing.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import type { CommandOutcome, Rows } from '../outcome.ts'

/** The columns and fields that hold mints, and the names of the symbols beside them. */
const SYMBOL_OF: Readonly<Record<string, string>> = { mint: 'symbol', base_mint: 'symbol', quote_mint: 'quote' }
/** The most mints of one request; the rest of a longer table has no symbols. */
const MOST_MINTS = 100
/** The longest wait for a slow node, in milliseconds. */
const PATIENCE_MS = 700

type FetchLabels = (mints: string[]) => Promise<{ data: TokenLabelBatch }>

/** The outcome with symbols; unchanged if it has no mint, has symbols already, or no answer comes in time. */
export async function withSymbols(outcome: CommandOutcome, fetchLabels: FetchLabels): Promise<CommandOutcome> {
  const { table, rows, record, text, data } = outcome
  if (text !== undefined && table === undefined) return outcome
  const shown = table ?? rows
  if (record === undefined && shown !== undefined) {
    const symbols = await fetchSymbols(mintsInRows(shown), fetchLabels)
    return symbols.size === 0 ? outcome : { ...outcome, table: rowsWithSymbols(shown, symbols) }
  }
  const fields = record ?? (isFields(data) ? data : undefined)
  if (fields === undefined) return outcome
  const symbols = await fetchSymbols(mintsInFields(fields), fetchLabels)
  return symbols.size === 0 ? outcome : { ...outcome, record: fieldsWithSymbols(fields, symbols) }
}

const isFields = (data: unknown): data is Record<string, unknown> =>
  typeof data === 'object' && data !== null && !Array.isArray(data)

/** The columns with mints that have no symbol column yet. */
const mintColumns = (names: readonly string[]): string[] =>
  names.filter((name) => {
    const symbol = SYMBOL_OF[name]
    return symbol !== undefined && !names.includes(symbol)
  })

function mintsInRows({ columns, rows }: Rows): unknown[] {
  return mintColumns(columns).flatMap((name) => rows.map((row) => row[columns.indexOf(name)]))
}

const mintsInFields = (fields: Record<string, unknown>) => mintColumns(Object.keys(fields)).map((name) => fields[name])

/**
 * Returns the symbols of those values that are mints. The creator of a mint chooses its symbol, so it is any text. An
 * answer about another address does not count.
 */
export async function fetchSymbols(values: readonly unknown[], fetchLabels: FetchLabels): Promise<Map<string, string>> {
  const mints = [...new Set(values.filter((value) => typeof value === 'string' && isAddress(value)))] as string[]
  const symbols = new Map(mints.includes(WRAPPED_SOL) ? [[WRAPPED_SOL, 'SOL']] : [])
  const asked = mints.filter((mint) => mint !== WRAPPED_SOL).slice(0, MOST_MINTS)
  if (asked.length === 0) return symbols
  // What is shown without symbols is better than nothing.
  const labels = await withTimeout(PATIENCE_MS, undefined, () => fetchLabels(asked)).catch(() => null)
  for (const label of labels?.data.tokens ?? []) {
    if (label?.symbol && asked.includes(label.mint)) symbols.set(label.mint, label.symbol)
  }
  return symbols
}

function rowsWithSymbols({ columns, rows }: Rows, symbols: ReadonlyMap<string, string>): Rows {
  const added = mintColumns(columns)
  const names = columns.flatMap((name) => (added.includes(name) ? [name, SYMBOL_OF[name] ?? name] : [name]))
  const symbolOf = (value: unknown) => (typeof value === 'string' ? (symbols.get(value) ?? null) : null)
  return {
    columns: names,
    rows: rows.map((row) =>
      row.flatMap((value, i) => (added.includes(columns[i] ?? '') ? [value, symbolOf(value)] : [value])),
    ),
  }
}

function fieldsWithSymbols(fields: Record<string, unknown>, symbols: ReadonlyMap<string, string>) {
  const added = mintColumns(Object.keys(fields))
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const symbol = added.includes(name) ? symbols.get(String(value)) : undefined
      return symbol === undefined
        ? [[name, value]]
        : [
            [name, value],
            [SYMBOL_OF[name] ?? name, symbol],
          ]
    }),
  )
}
