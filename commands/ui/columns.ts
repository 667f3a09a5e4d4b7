/** Measures the columns of a table, and chooses their widths so that they fit a terminal. */
import stringWidth from 'fast-string-width'

export interface TableColumn {
  /** The index of its cells in each row. */
  index: number
  heading: string
  /** The width of its widest cell or its heading. */
  natural: number
  /** The width of its widest cell, if the heading is broken between words. */
  narrow: number
  /** The smallest width: addresses are shortened in the middle, text and heading are broken. */
  least: number
  /** Whether its cells are aligned right. */
  isNumber: boolean
  /** Whether its cells are never shortened; if the table is too narrow, they get their own line. */
  isWhole: boolean
  isAddress: boolean
}

/** A column with its final width in characters. */
export type FittedColumn = TableColumn & { width: number }

/** The number of spaces between two columns. */
export const GAP = 2
/** The shortest form of an address: five characters of each end and the ellipsis between them. */
const LEAST_ADDRESS = 11
const LEAST_TEXT = 16
/** Words up to this length, such as statuses, dates and numbers, are not broken. */
const SHORT_WORD = 31
/** Characters that are one column wide, including the ellipsis of a shortened text. */
const NARROW = /^[\x20-\x7e…]*$/
/** Matches addresses, roots and hashes. */
const ADDRESS = /^(?:[1-9A-HJ-NP-Za-km-z]{32,44}|(?:0x)?[0-9a-f]{64}|-?)$/
const NUMBER = /^(?:-?\d+(?:,\d{3})*(?:\.\d+)?(?: (?:SOL|%))?|-?)$/
const DATE = /^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: (?:UTC|[+-]\d\d:\d\d))?|-?)$/
/** Matches URLs and paths, which people copy, so they are never shortened. */
const PASTED = /^(?:https?:\/\/|\/)./
const WHOLE_NAMES = /^(?:ID|EVENT ID|RESOURCE ID|SIGNATURE|TRANSACTION)$/

/** The width of a text in terminal columns, East Asian and emoji widths included. */
export const textWidth = (text: string): number => (NARROW.test(text) ? text.length : stringWidth(text))

/** The part of a line that fits so many columns; a character that would be cut in two is left out. */
export function cutToWidth(line: string, width: number): string {
  if (textWidth(line) <= width) return line
  let [kept, used] = ['', 0]
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    used += textWidth(segment)
    if (used > width) break
    kept += segment
  }
  return kept
}

/** Measures every cell once. The first column of addresses identifies its rows, so it is never shortened. */
export function tableColumns(headings: readonly string[], rows: readonly (readonly string[])[]): TableColumn[] {
  let isNamed = false
  return headings.map((heading, index) => {
    let [widest, widestPasted, widestWord, hasSpace] = [1, 0, LEAST_TEXT, false]
    let [isAddress, isNumber, isDate] = [true, true, true]
    for (const row of rows) {
      const cell = row[index] ?? ''
      widest = Math.max(widest, textWidth(cell))
      hasSpace ||= cell.includes(' ')
      if (cell.length > LEAST_TEXT) widestWord = Math.max(widestWord, widestWordIn(cell))
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
    const shortest = isWhole ? widest : Math.max(widestPasted, Math.min(widest, isAddress ? LEAST_ADDRESS : widestWord))
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

/**
 * The width of each column: first headings are broken, then the widest columns narrowed, none below its least width.
 * Null if that is not enough.
 */
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
/** The width of the widest word that is not broken. */
const widestWordIn = (cell: string) =>
  cell.split(' ').reduce((most, { length }) => (length <= SHORT_WORD ? Math.max(most, length) : most), 0)
const totalWidth = (columns: readonly FittedColumn[]) => columns.reduce((total, { width }) => total + width, 0)
