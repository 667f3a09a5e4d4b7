/** Shapes what is shown of an answer by `--columns`, `--sort`, `--filter`, `--jq` and `--template`. */
import { Amount } from '../cli/amounts.ts'
import type { CommandOutcome, Rows } from '../outcome.ts'
import { type Condition, conditionOf, type Ordering, orderedPlaces, orderingOf } from './conditions.ts'
import { fieldAt, fieldNames, hasField, listedNames } from './field-paths.ts'
import type { Jq } from './jq.ts'
import { usage } from './problem.ts'
import { jsonText, multiline } from './render.ts'

/** The typed options. */
export interface ViewOptions {
  columns?: string
  sort?: string
  filter?: readonly string[]
  jq?: string
  template?: string
}

/** Reads the options and shapes the answer by them. */
export interface AnswerView {
  /** The selected records in order, with their columns. Throws usage problems. */
  shaped(outcome: CommandOutcome): CommandOutcome
  /** The text of `--jq` or `--template`, without control characters on a terminal; null without these options. */
  text(data: unknown, onTerminal: boolean): Promise<string | null>
  close(): Promise<void>
}

/** Reads all options before the command does anything, so that a mistake in one costs nothing. */
export async function openView({ columns, sort, filter = [], jq, template }: ViewOptions): Promise<AnswerView> {
  if (jq !== undefined && template !== undefined) {
    throw usage('give either --jq or --template: each decides what is printed', { param: '--jq' })
  }
  const conditions = filter.map(conditionOf)
  const ordering = sort === undefined ? undefined : orderingOf(sort)
  const wanted = columns === undefined ? undefined : columnsOf(columns)
  const lines = template === undefined ? undefined : templateOf(template)
  const running = jq === undefined ? undefined : await (await import('./jq.ts')).openJq(jq)
  return {
    shaped: (outcome) => {
      const ordered = conditions.length > 0 || ordering !== undefined ? inOrder(outcome, conditions, ordering) : outcome
      return wanted === undefined ? ordered : withColumns(ordered, wanted)
    },
    async text(data, onTerminal) {
      const text = running ? await resultText(running, data, onTerminal) : lines ? templateText(lines, data) : null
      return text !== null && onTerminal ? multiline(text) : text
    },
    close: async () => running?.close(),
  }
}

function columnsOf(typed: string): string[] {
  const names = typed.split(',').map((name) => name.trim().replace(/[ -]/g, '_').toLowerCase())
  if (names.includes('')) throw usage('--columns takes names separated by commas: a,b.c', { param: '--columns' })
  return [...new Set(names)]
}

/** The records of a list; a usage problem for any other answer. */
function listOf(flag: string, data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data
  throw usage(`${flag} is for lists, and this answer is one record`, {
    param: flag,
    next: '--jq reaches into a record',
  })
}

/** Conditions and order apply to the records that were read; the API's own filters are flags of the commands. */
function inOrder(outcome: CommandOutcome, conditions: readonly Condition[], ordering?: Ordering): CommandOutcome {
  const records = listOf(conditions.length > 0 ? '--filter' : '--sort', outcome.data)
  for (const { path } of conditions) requireField('--filter', path, records)
  if (ordering !== undefined) requireField('--sort', ordering.path, records)
  const kept = records.flatMap((record, place) => (conditions.every(({ holds }) => holds(record)) ? [place] : []))
  const places = ordering === undefined ? kept : orderedPlaces(records, kept, ordering)
  const rearranged = (rows: Rows | undefined): Rows | undefined =>
    rows?.rows.length === records.length
      ? { columns: rows.columns, rows: places.map((place) => rows.rows[place] ?? []) }
      : undefined
  const { text, record, drawing, table, rows, notes = [], ...rest } = outcome
  const shown = rearranged(table)
  return {
    ...rest,
    data: places.map((place) => records[place]),
    rows: rearranged(rows) ?? rowsOfAll(places.map((place) => records[place])),
    ...(shown === undefined ? {} : { table: shown }),
    notes: [...notes, ...notesOf(outcome, records.length, places.length, conditions.length > 0)],
  }
}

function notesOf({ hasMore }: CommandOutcome, read: number, kept: number, filtered: boolean): string[] {
  if (hasMore) {
    return [`Only this page of ${read} was ${filtered ? 'filtered' : 'sorted'}; --all reads every page first.`]
  }
  return filtered && read > 0 && kept === 0 ? [`None of ${read} matches --filter.`] : []
}

/** If the command lays out a list in its own way, the fields of its records are shown instead. */
function rowsOfAll(records: readonly unknown[]): Rows {
  const columns = fieldNames(records).filter((name) => !name.includes('.'))
  return { columns, rows: records.map((record) => columns.map((column) => fieldAt(record, column))) }
}

/** Columns are fields of the data, with the API's names, or columns of the command's own table. */
function withColumns(outcome: CommandOutcome, names: readonly string[]): CommandOutcome {
  const { data, rows, table, notes, exitCode } = outcome
  const records = Array.isArray(data) ? data : [data]
  const own = [table, rows].filter((one) => one !== undefined && one.rows.length === records.length) as Rows[]
  for (const name of names)
    requireField(
      '--columns',
      name,
      records,
      own.flatMap(({ columns }) => columns),
    )
  const cellOf = (record: unknown, place: number, name: string) => {
    const value = fieldAt(record, name)
    if (value !== undefined) return value
    const rows = own.find(({ columns }) => columns.includes(name))
    return rows?.rows[place]?.[rows.columns.indexOf(name)] ?? null
  }
  const cells = records.map((record, place) => names.map((name) => cellOf(record, place, name)))
  const picked = cells.map((values) => Object.fromEntries(names.map((name, i) => [name, dataOf(values[i])])))
  const rest = { ...(notes && { notes }), ...(exitCode === undefined ? {} : { exitCode }) }
  return Array.isArray(data)
    ? { ...rest, data: picked, rows: { columns: names, rows: cells } }
    : { ...rest, data: picked[0] }
}

/** The command's own table has amounts, which are decimal text in data. */
const dataOf = (value: unknown) => (value instanceof Amount ? String(value) : value)

/** Without records their fields are unknown, so any name is accepted. */
function requireField(flag: string, path: string, records: readonly unknown[], more: readonly string[] = []): void {
  if (records.length === 0 || more.includes(path) || records.some((record) => hasField(record, path))) return
  const names = [...new Set([...fieldNames(records), ...more])]
  throw usage(`${flag}: there is no field ${path}`, { param: flag, next: `the fields are ${listedNames(names)}` })
}

function templateText(template: Template, data: unknown): string {
  const records = Array.isArray(data) ? data : [data]
  for (const path of templatePaths(template)) requireField('--template', path, records)
  return records.map((record) => `${filledTemplate(template, record)}\n`).join('')
}

/** Texts have no quotes; other results are JSON, each on its own line, indented on a terminal. */
async function resultText(jq: Jq, data: unknown, onTerminal: boolean): Promise<string> {
  const results = await jq.run(data)
  return results.map((json) => `${resultLine(json, onTerminal)}\n`).join('')
}

/** Integers that are too large for exact JavaScript numbers; they stay as jq wrote them. */
const LONG_NUMBER = /\d{16}/

function resultLine(json: string, onTerminal: boolean): string {
  if (json.startsWith('"')) return JSON.parse(json)
  return !LONG_NUMBER.test(json) && onTerminal ? jsonText(JSON.parse(json)) : json
}

/** The parts of a template: text as it is, and paths of fields. */
type Template = readonly ({ text: string } | { path: string })[]

const WRITTEN: Record<string, string> = { n: '\n', t: '\t', '\\': '\\' }

/**
 * Reads a template: `{field}` or `{field.inner}` is a value, `{}` the record itself, `{{` and `}}` are braces, and
 * `\t`, `\n` and `\\` are as in a shell's printf. Throws a usage problem that names the place.
 */
export function templateOf(typed: string): Template {
  const parts: ({ text: string } | { path: string })[] = []
  const pattern = /\{\{|\}\}|\{([\w.-]*)\}|\\([nt\\])|[{}]|[^{}\\]+|\\/g
  for (const { 0: found, 1: path, 2: escaped, index } of typed.matchAll(pattern)) {
    if (path !== undefined) parts.push({ path })
    else if (found === '{' || found === '}') {
      throw usage(`--template: the ${found} at character ${index + 1} has no other half`, {
        param: '--template',
        next: 'write a field as {name} or {name.inner}, and a brace as {{ or }}',
      })
    } else
      parts.push({
        text: escaped !== undefined ? (WRITTEN[escaped] ?? '') : found.replace(/^(\{\{|\}\})$/, found[0] ?? ''),
      })
  }
  return parts
}

/** The text of one record. A null or missing value is empty; a list or an object is JSON. */
export function filledTemplate(template: Template, record: unknown): string {
  return template
    .map((part) => {
      if ('text' in part) return part.text
      const value = part.path === '' ? record : fieldAt(record, part.path)
      if (value === null || value === undefined) return ''
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    })
    .join('')
}

const templatePaths = (template: Template): string[] =>
  template.flatMap((part) => ('path' in part && part.path !== '' ? [part.path] : []))
