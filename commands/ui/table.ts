/** Lays out rows as columns that fit a width, in linear time. */
import { wrapAnsi } from 'fast-wrap-ansi'
import { type FittedColumn, fittedColumns, GAP, type TableColumn, tableColumns, textWidth } from './columns.ts'
import type { Paint } from './paint.ts'

export const INDENT = '  '
const BETWEEN = ' '.repeat(GAP)
/** Columns that are never shortened and are at least this wide may get their own line. */
const LONG = 20
/** Marks an empty cell; other cells have no control characters. */
const EMPTY_CELL = '\0'

type Cells = readonly string[]

/** The lines of the table, headings first; null if no layout leaves room for what must not be shortened. */
export function tableLines(headings: Cells, rows: readonly Cells[], width: number, paint: Paint): string[] | null {
  const columns = tableColumns(headings, rows)
  const fitting = fittedColumns(columns, width)
  if (fitting !== null) return linesOf({ own: [], beside: fitting, rows, paint })
  const own: TableColumn[] = []
  const long = columns.filter(({ isWhole, least }) => isWhole && least > LONG)
  for (const column of long.sort((a, b) => b.least - a.least)) {
    own.push(column)
    const rest = columns.filter((other) => !own.includes(other))
    const beside = fittedColumns(rest, width - INDENT.length)
    if (rest.length === 0 || beside === null) continue
    return linesOf({ own: own.toSorted((a, b) => a.index - b.index), beside, rows, paint })
  }
  return null
}

interface TableLayout {
  /** The columns with their own line, above the rest of the row. */
  own: readonly TableColumn[]
  beside: readonly FittedColumn[]
  rows: readonly Cells[]
  paint: Paint
}

function linesOf({ own, beside, rows, paint }: TableLayout): string[] {
  const indent = own.length === 0 ? '' : INDENT
  const lines = own.map(({ heading }) => paint.bold(heading))
  const headings = beside.map((column) => ({ column, parts: broken(column.heading, column.width) }))
  const height = Math.max(1, ...headings.map(({ parts }) => parts.length))
  for (let line = 0; line < height; line++) {
    // Headings of several lines are aligned at the bottom.
    const texts = headings.map(({ column, parts }) => ({ column, text: parts[line - height + parts.length] ?? '' }))
    lines.push(alignedLine(texts, indent, paint, paint.bold))
  }
  for (const row of rows) {
    for (const { index } of own) lines.push(row[index] || paint.dim('-'))
    const cells = beside.map((column) => ({ column, parts: cellParts(column, row[column.index] ?? '') }))
    const most = cells.reduce((most, { parts }) => Math.max(most, typeof parts === 'string' ? 1 : parts.length), 1)
    for (let line = 0; line < most; line++) {
      const texts = cells.map(({ column, parts }) => ({
        column,
        text: typeof parts === 'string' ? (line === 0 ? parts : '') : (parts[line] ?? ''),
      }))
      lines.push(alignedLine(texts, indent, paint))
    }
  }
  return lines
}

/** Aligns texts on one line, without trailing spaces. */
function alignedLine(
  texts: readonly { column: FittedColumn; text: string }[],
  indent: string,
  { dim }: Paint,
  bold = (text: string) => text,
): string {
  let line = indent
  let pending = ''
  for (const { column, text } of texts) {
    const isEmpty = text === EMPTY_CELL
    const space = ' '.repeat(Math.max(0, column.width - (isEmpty ? 1 : textWidth(text))))
    if (text === '') pending += space
    else {
      line += `${pending}${column.isNumber ? space : ''}${isEmpty ? dim('-') : bold(text)}`
      pending = column.isNumber ? '' : space
    }
    pending += BETWEEN
  }
  return line
}

/** The text of a cell that fits one line, or its lines. */
function cellParts({ isAddress, width }: FittedColumn, cell: string): string | string[] {
  if (cell === '') return EMPTY_CELL
  if (textWidth(cell) <= width) return cell
  return isAddress ? middleCut(cell, width) : broken(cell, width)
}

/** Shortens a long address to its two ends. */
function middleCut(text: string, width: number): string {
  const head = Math.ceil((width - 1) / 2)
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`
}

const broken = (text: string, width: number): string[] =>
  textWidth(text) <= width ? [text] : wrapAnsi(text, width, { hard: true }).split('\n')
