/** Lays rows out as columns that fit a width, in time that grows with their number alone. */
import { wrapAnsi } from 'fast-wrap-ansi'
import { type Column, columnsOf, fitted, GAP, widthOf } from './columns.ts'

const INDENT = '  '
const BETWEEN = ' '.repeat(GAP)
/** Whole columns from this width on may stand on a line of their own. */
const LONG = 20
/** Stands for an empty cell; cells hold no control characters. */
const NOTHING = '\0'

type Row = readonly string[]
export interface Paint {
  bold(text: string): string
  dim(text: string): string
}

/** Lines of the table, headings first; null where no layout in columns keeps whole what must be whole. */
export function tableLines(headings: Row, rows: readonly Row[], width: number, paint: Paint): string[] | null {
  const columns = columnsOf(headings, rows)
  const widths = fitted(columns, width)
  if (widths !== null) return linesOf({ columns, widths, rows, paint, own: [], rest: columns.map((_, i) => i) })
  const own = new Set<number>()
  const long = columns.map((_, i) => i).filter((i) => columns[i]!.isWhole && columns[i]!.least > LONG)
  for (const i of long.sort((a, b) => columns[b]!.least - columns[a]!.least)) {
    own.add(i)
    const rest = columns.map((_, i) => i).filter((i) => !own.has(i))
    const narrower = fitted(
      rest.map((i) => columns[i]!),
      width - INDENT.length,
    )
    if (rest.length === 0 || narrower === null) continue
    const all = columns.map((_, i) => narrower[rest.indexOf(i)] ?? 0)
    return linesOf({ columns, widths: all, rows, paint, own: [...own].sort((a, b) => a - b), rest })
  }
  return null
}

interface Layout {
  columns: readonly Column[]
  widths: readonly number[]
  rows: readonly Row[]
  paint: Paint
  /** Columns on a line of their own, above the rest of their row. */
  own: readonly number[]
  rest: readonly number[]
}

function linesOf({ columns, widths, rows, paint, own, rest }: Layout): string[] {
  const place: Placing = { columns, widths, places: rest, indent: own.length === 0 ? '' : INDENT, dim: paint.dim }
  const lines = own.map((i) => paint.bold(columns[i]!.heading))
  const headings = rest.map((i) => broken(columns[i]!.heading, widths[i]!))
  const height = Math.max(1, ...headings.map(({ length }) => length))
  for (let line = 0; line < height; line++) {
    // Headings of several lines end on the last one, beside the others.
    const texts = headings.map((parts) => parts[line - height + parts.length] ?? '')
    lines.push(aligned(texts, place, paint.bold))
  }
  for (const row of rows) {
    for (const i of own) lines.push(row[i]! || paint.dim('-'))
    const cells = rest.map((i) => shownIn(columns[i]!, row[i]!, widths[i]!))
    const most = cells.reduce((most, cell) => Math.max(most, typeof cell === 'string' ? 1 : cell.length), 1)
    for (let line = 0; line < most; line++) {
      const texts = cells.map((cell) => (typeof cell === 'string' ? (line === 0 ? cell : '') : (cell[line] ?? '')))
      lines.push(aligned(texts, place))
    }
  }
  return lines
}

interface Placing {
  columns: readonly Column[]
  widths: readonly number[]
  /** Which columns. */
  places: readonly number[]
  indent: string
  dim(text: string): string
}

/** One line, with nothing behind its last text. */
function aligned(texts: Row, { columns, widths, places, indent, dim }: Placing, bold = (text: string) => text): string {
  let line = indent
  let pending = ''
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at]!
    const i = places[at]!
    const isEmpty = text === NOTHING
    const space = ' '.repeat(Math.max(0, widths[i]! - (isEmpty ? 1 : widthOf(text))))
    const isRight = columns[i]!.isNumber
    if (text === '') pending += space
    else {
      line += `${pending}${isRight ? space : ''}${isEmpty ? dim('-') : bold(text)}`
      pending = isRight ? '' : space
    }
    pending += BETWEEN
  }
  return line
}

/** A cell on one line, or the lines of it. */
function shownIn({ isAddress }: Column, cell: string, width: number): string | string[] {
  if (cell === '') return NOTHING
  if (widthOf(cell) <= width) return cell
  return isAddress ? middleCut(cell, width) : broken(cell, width)
}

/** Both ends of an address. */
function middleCut(text: string, width: number): string {
  const head = Math.ceil((width - 1) / 2)
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`
}

const broken = (text: string, width: number): string[] =>
  widthOf(text) <= width ? [text] : wrapAnsi(text, width, { hard: true }).split('\n')
