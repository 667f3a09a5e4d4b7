/**
 * Renders an outcome for stdout: one JSON document, a table or a record that fits the terminal, or tab-separated
 * fields.
 */
import { escapedCharacter, printable, UNPRINTABLE } from '../../src/platform/printable.ts'
import { Amount } from '../cli/amounts.ts'
import type { CommandOutcome, Rows } from '../outcome.ts'
import { fieldLines } from './field-lines.ts'
import type { Paint } from './paint.ts'
import { localTime, momentIn, timeText, zoneOf } from './times.ts'

export { printable }

export const FORMATS = ['table', 'json', 'plain'] as const
export type Format = (typeof FORMATS)[number]

export interface RenderOptions {
  paint: Paint
  /** The columns of the terminal; Infinity if the output is not a terminal, so that nothing is shortened. */
  width: number
}

/** The rendered text, which ends with a line break or is empty. */
export async function render(outcome: CommandOutcome, format: Format, look: RenderOptions): Promise<string> {
  if (format === 'json') return `${jsonText(outcome.data)}\n`
  if (format === 'plain') return plainText(outcome)
  const shown = await tableForm(outcome, look)
  return outcome.drawing === undefined ? shown : `${shown}\n${multiline(outcome.drawing.join('\n'))}\n`
}

async function tableForm(outcome: CommandOutcome, look: RenderOptions): Promise<string> {
  if (outcome.text !== undefined) {
    const above = outcome.table === undefined ? '' : `${await tableText(outcome.table, look)}\n`
    return `${above}${await fittingText(outcome.text, look.width)}\n`
  }
  const rows = outcome.table ?? outcome.rows
  if (outcome.record !== undefined || rows === undefined) return recordText(outcome.record ?? outcome.data, look)
  return tableText(rows, look)
}

/** Wraps laid-out lines that are too long for the terminal. */
export async function fittingText(text: string, width: number): Promise<string> {
  const clean = multiline(text)
  return isTerminal(width) ? (await import('./record.ts')).hangingText(clean, width) : clean
}

function plainText({ data, rows }: CommandOutcome): string {
  const lines = rows?.rows ?? recordEntries(data)
  return lines.map((cells) => `${cells.map((cell) => escapedCell(valueText(cell))).join('\t')}\n`).join('')
}

async function tableText({ columns, rows }: Rows, { paint, width }: RenderOptions): Promise<string> {
  if (rows.length === 0) return ''
  const { tableLines } = await import('./table.ts')
  const zones = columns.map((column, i) => (isTerminal(width) ? sharedZone(column, rows, i) : null))
  const headings = columns.map((column, i) => [headingOf(column), zones[i] ?? []].flat().join(' '))
  const cells = rows.map((row) =>
    row.map((value, i) => {
      const moment = zones[i] ? momentIn(columns[i] ?? '', value) : null
      return moment === null ? cellText(columns[i] ?? '', value, width) : localTime(moment)
    }),
  )
  const lines = tableLines(headings, cells, width, paint)
  if (lines !== null) return `${lines.join('\n')}\n`
  const records = await Promise.all(rows.map((row) => recordText(fieldsOfRow(columns, row), { paint, width })))
  return records.join('\n')
}

const fieldsOfRow = (columns: readonly string[], row: readonly unknown[]) =>
  Object.fromEntries(columns.map((column, i) => [column, row[i]]))

async function recordText(data: unknown, { paint, width }: RenderOptions): Promise<string> {
  const shown = recordEntries(data).map(([name, value]) => [headingOf(name), fieldText(name, value, width)] as const)
  if (isTerminal(width)) {
    const { recordLines } = await import('./record.ts')
    return `${recordLines(shown, width, paint).join('\n')}\n`
  }
  return fieldLines(shown, paint)
    .map((line) => `${line}\n`)
    .join('')
}

function recordEntries(data: unknown): [string, unknown][] {
  if (typeof data !== 'object' || data === null) return [['value', data]]
  return Object.entries(data)
}

const headingOf = (column: string) => column.replaceAll('_', ' ').toUpperCase()

/** The text of a value: null is empty, a list of texts is joined, nested values are compact JSON. */
function valueText(value: unknown, comma = ','): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Amount) return String(value)
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(comma)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const isTerminal = (width: number) => width !== Number.POSITIVE_INFINITY

/** The zone that all times of a column have; null without a time, or if daylight saving begins or ends between them. */
function sharedZone(column: string, rows: Rows['rows'], place: number): string | null {
  const moments = rows.map((row) => momentIn(column, row[place])).filter((moment) => moment !== null)
  const [zone = null, ...others] = new Set(moments.map(zoneOf))
  return others.length === 0 ? zone : null
}

/** The text of a value, with spaces after the commas of a list; amounts and times are for people on a terminal only. */
function cellText(name: string, value: unknown, width: number): string {
  if (value instanceof Amount) {
    const amount = isTerminal(width) ? value.grouped : String(value)
    return value.unit === null ? amount : `${amount} ${printable(value.unit)}`
  }
  const moment = momentIn(name, value)
  return printable(moment === null ? valueText(value, ', ') : timeText(moment, isTerminal(width)))
}

/** The text of a value in a record; a nested value that is too long for a line is indented JSON. */
function fieldText(name: string, value: unknown, width: number): string {
  const line = cellText(name, value, width)
  // Each item of a list has its own line, so that no comma is copied with it.
  if (Array.isArray(value) && value.length > 1 && !/^[[{]/.test(line) && line.length > width)
    return value.map((one) => cellText(name, one, width)).join('\n')
  if (typeof value !== 'object' || value === null || !/^[[{]/.test(line) || line.length <= width / 2) return line
  return JSON.stringify(value, undefined, 2).split('\n').map(printable).join('\n')
}

/** The text of one field in plain output: tabs, line breaks and backslashes are escaped as in JSON. */
const escapedCell = (text: string) =>
  printable(text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character))
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** Like `printable`, but line breaks are kept. */
export const multiline = (text: string) => text.split('\n').map(printable).join('\n')

/** JSON that is safe for a terminal: it parses to the same value, and keeps the line breaks between its parts. */
export const jsonText = (value: unknown, indent = 2): string =>
  (JSON.stringify(value, undefined, indent) ?? '').replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapedCharacter(character),
  )
