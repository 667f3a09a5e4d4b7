/** Renders an outcome as text for stdout: one JSON document, aligned columns, or tab-separated fields for scripts. */
import type { Outcome, Rows } from '../command.ts'

export const FORMATS = ['table', 'json', 'plain'] as const
export type Format = (typeof FORMATS)[number]

export interface Paint {
  bold(text: string): string
  dim(text: string): string
}

/** Text that ends with a line break, or nothing. */
export async function render(outcome: Outcome, format: Format, paint: Paint): Promise<string> {
  if (format === 'json') return `${jsonText(outcome.data)}\n`
  if (format === 'plain') return plain(outcome)
  if (outcome.text !== undefined) return `${multiline(outcome.text)}\n`
  return outcome.rows ? table(outcome.rows, paint) : record(outcome.data, paint)
}

function plain({ data, rows }: Outcome): string {
  const lines = rows?.rows ?? fields(data)
  return lines.map((cells) => `${cells.map((cell) => escaped(show(cell))).join('\t')}\n`).join('')
}

async function table({ columns, rows }: Rows, paint: Paint): Promise<string> {
  if (rows.length === 0) return ''
  const { default: Table } = await import('cli-table3')
  const none = Object.fromEntries(
    ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) => [
      [side, ''],
      [`${side}-mid`, ''],
      [`${side}-left`, ''],
      [`${side}-right`, ''],
    ]),
  )
  const aligned = new Table({
    chars: { ...none, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  })
  aligned.push(columns.map((column) => paint.bold(title(column))))
  for (const cells of rows) aligned.push(cells.map((cell) => cleaned(show(cell)) || paint.dim('-')))
  return `${aligned.toString().replace(/ +$/gm, '')}\n`
}

function record(data: unknown, paint: Paint): string {
  const pairs = fields(data)
  const width = Math.max(0, ...pairs.map(([name]) => name.length))
  return pairs
    .map(([name, value]) => `${paint.bold(title(name).padEnd(width))}  ${cleaned(show(value)) || paint.dim('-')}\n`)
    .join('')
}

function fields(data: unknown): [string, unknown][] {
  if (typeof data !== 'object' || data === null) return [['value', data]]
  return Object.entries(data)
}

const title = (column: string) => column.replaceAll('_', ' ').toUpperCase()

/** Null is empty; a list of words is joined, anything deeper is compact JSON. */
function show(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(',')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** One field of a line: tabs, line breaks and backslashes are escaped as in JSON. */
const escaped = (text: string) => cleaned(text.replace(/[\\\t\n\r]/g, (found) => ESCAPES[found]!))
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** What a terminal obeys, or a reader does not see: control, direction and other invisible characters, separators of lines, halves of pairs. */
const UNPRINTABLE =
  /[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** Names on chain are anybody's text: what a terminal obeys must not reach one. */
export const cleaned = (text: string) => text.replace(UNPRINTABLE, '\ufffd')

/** The same, its line breaks kept. */
export const multiline = (text: string) => text.split('\n').map(cleaned).join('\n')

/** JSON that may be shown on a terminal: the same value to whoever parses it, the line breaks between its parts kept. */
export const jsonText = (value: unknown, indent = 2): string =>
  (JSON.stringify(value, undefined, indent) ?? '').replace(UNPRINTABLE, (found) =>
    found === '\n' ? found : unicode(found),
  )

const unicode = (text: string) =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
