/** What the columns of a table hold, and how wide each is where all of them must fit a width. */
import stringWidth from 'fast-string-width'

export interface TableColumn {
  /** Place of its cells in each row. */
  index: number
  heading: string
  /** Width of its widest cell or its heading. */
  natural: number
  /** Width of its widest cell, with its heading broken between words. */
  narrow: number
  /** Smallest width: with addresses cut in the middle, and text and heading broken. */
  least: number
  /** Its cells stand at the right edge. */
  isNumber: boolean
  /** Its cells are shown to their last character, on a line of their own where nothing else helps. */
  isWhole: boolean
  isAddress: boolean
}

/** A column with the characters that it gets. */
export type FittedColumn = TableColumn & { width: number }

/** Blanks between two columns. */
export const GAP = 2
/** Five characters of each end, and the sign between them. */
const LEAST_ADDRESS = 11
const LEAST_TEXT = 16
/** Words up to this length are not broken: statuses, dates, numbers. */
const SHORT_WORD = 31
const PRINTABLE = /^[\x20-\x7e]*$/
/** Addresses, roots and hashes. */
const ADDRESS = /^(?:[1-9A-HJ-NP-Za-km-z]{32,44}|(?:0x)?[0-9a-f]{64}|-?)$/
const NUMBER = /^(?:-?\d+(?:\.\d+)?(?: (?:SOL|%))?|-?)$/
const DATE = /^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|-?)$/
/** URLs and paths: people paste them elsewhere as they stand. */
const PASTED = /^(?:https?:\/\/|\/)./
const WHOLE_NAMES = /^(?:ID|EVENT ID|RESOURCE ID|SIGNATURE|TRANSACTION)$/

/** Columns on a terminal, East Asian and emoji widths included. */
export const textWidth = (text: string): number => (PRINTABLE.test(text) ? text.length : stringWidth(text))

/** Looks at every cell once. The first column of addresses is what its rows are called by, and stays whole. */
export function tableColumns(headings: readonly string[], rows: readonly (readonly string[])[]): TableColumn[] {
  let isNamed = false
  return headings.map((heading, index) => {
    let [widest, widestPasted, hasSpace, isAddress, isNumber, isDate] = [1, 0, false, true, true, true]
    for (const row of rows) {
      const cell = row[index] ?? ''
      widest = Math.max(widest, textWidth(cell))
      hasSpace ||= cell.includes(' ')
      isAddress &&= ADDRESS.test(cell)
      isNumber &&= NUMBER.test(cell)
      isDate &&= DATE.test(cell)
      if (cell.includes('/')) widestPasted = Math.max(widestPasted, widestPastedIn(cell))
    }
    isAddress &&= widest > SHORT_WORD
    const isName = !isNamed && (isAddress || WHOLE_NAMES.test(heading))
    isNamed ||= isName
    const isOneWord = isDate || isNumber || (!hasSpace && widest <= SHORT_WORD)
    const isWhole = isName || (widestPasted > 0 && !hasSpace) || isOneWord || (!isAddress && WHOLE_NAMES.test(heading))
    const shortest = isWhole ? widest : Math.max(widestPasted, Math.min(widest, isAddress ? LEAST_ADDRESS : LEAST_TEXT))
    const longestWord = Math.max(0, ...heading.split(' ').map(({ length }) => length))
    return {
      index,
      heading,
      natural: Math.max(widest, heading.length),
      narrow: Math.max(widest, longestWord),
      least: Math.max(shortest, longestWord),
      isNumber,
      isWhole,
      isAddress: isAddress && !isWhole,
    }
  })
}

/** The width of each column: headings give way first, then the widest columns, none below its least. Null where that is not enough. */
export function fittedColumns(columns: readonly TableColumn[], width: number): FittedColumn[] | null {
  const room = width - GAP * (columns.length - 1)
  const naturals = columns.map((column) => ({ ...column, width: column.natural }))
  if (totalWidth(naturals) <= room) return naturals
  const capped = (cap: number) =>
    columns.map((column) => ({ ...column, width: Math.max(column.least, Math.min(column.narrow, cap)) }))
  if (totalWidth(capped(0)) > room) return null
  let cap = 0
  while (cap < room && totalWidth(capped(cap + 1)) <= room) cap++
  return capped(cap)
}

const widestPastedIn = (cell: string) =>
  cell.split(' ').reduce((most, word) => (PASTED.test(word) ? Math.max(most, textWidth(word)) : most), 0)
const totalWidth = (columns: readonly FittedColumn[]) => columns.reduce((total, { width }) => total + width, 0)
