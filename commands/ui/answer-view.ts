/** Shapes what is shown of an answer by `--columns`, `--sort`, `--filter`, `--jq` and `--template`. */
import { Amount } from '../cli/amounts.ts'
import type { CommandOutcome, Rows } from '../outcome.ts'
import type { Jq } from './jq.ts'
import { usage } from './problem.ts'
import { jsonText, multiline, printable } from './render.ts'

// Reads fields of an answer by their names, with dots for nested ones: `earnings.partner.claimable`.

/** How many records are searched for names of fields, and how many names a message lists. */
const RECORDS_LOOKED_AT = 200
const NAMES_LISTED = 60
const DEEPEST = 4

/** The value at a path; undefined if the record has none. Only own fields count, not those that JavaScript adds. */
function fieldAt(record: unknown, path: string): unknown {
  if (isObject(record) && Object.hasOwn(record, path)) return record[path]
  let value = record
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name) || (Array.isArray(value) && name === 'length')) return undefined
    value = value[name]
  }
  return value
}

/** Whether the record has that field, even if it is null. */
const hasField = (record: unknown, path: string): boolean => fieldAt(record, path) !== undefined

/** The names of the fields of records, nested ones after their parent, in the order of the API. */
function fieldNames(records: readonly unknown[]): string[] {
  const names = new Set<string>()
  for (const record of records.slice(0, RECORDS_LOOKED_AT)) addNames(record, '', names, 1)
  return [...names]
}

function addNames(value: unknown, lead: string, names: Set<string>, depth: number): void {
  if (!isObject(value) || Array.isArray(value)) return
  for (const [name, inner] of Object.entries(value)) {
    names.add(`${lead}${name}`)
    if (depth < DEEPEST) addNames(inner, `${lead}${name}.`, names, depth + 1)
  }
}

/** The names for a message. They come from an answer, so a stranger may have chosen them. */
function listedNames(names: readonly string[]): string {
  const listed = names.slice(0, NAMES_LISTED).map((name) => printable(name).slice(0, 80))
  return `${listed.join(', ')}${names.length > NAMES_LISTED ? ', …' : ''}`
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

// Reads `--filter` and `--sort`: conditions on fields, and the field to order by.

/** One `--filter`, typed and parsed. */
interface Condition {
  typed: string
  path: string
  holds(record: unknown): boolean
}

const CONDITION = /^([\w.-]+)(!=|>=|<=|=|~|>|<)(.*)$/s

/** Reads `field=value` and other conditions; throws a usage problem that names the flag and the forms. */
function conditionOf(typed: string): Condition {
  const [, path, operator, value] = CONDITION.exec(typed) ?? []
  if (path === undefined || operator === undefined || value === undefined) {
    throw usage(`--filter takes FIELD=VALUE, not ${typed}`, {
      param: '--filter',
      next: 'the operators are = and != (equal or not), ~ (contains), >, >=, < and <=; put the whole in quotes',
    })
  }
  const wanted = orderKey(value)
  const compared = (record: unknown) => orderedBy(fieldAt(record, path), wanted)
  const tests: Record<string, (record: unknown) => boolean> = {
    '=': (record) => isEqual(fieldAt(record, path), value, wanted),
    '!=': (record) => !isEqual(fieldAt(record, path), value, wanted),
    '~': (record) => contains(fieldAt(record, path), value.toLowerCase()),
    '>': (record) => (compared(record) ?? 0) > 0,
    '<': (record) => (compared(record) ?? 0) < 0,
    '>=': (record) => (compared(record) ?? -1) >= 0,
    '<=': (record) => (compared(record) ?? 1) <= 0,
  }
  return { typed, path, holds: tests[operator] ?? (() => false) }
}

/** How a field compares with the wanted value; null if the two are of different kinds, which have no order. */
function orderedBy(value: unknown, wanted: OrderKey): number | null {
  const key = orderKey(value)
  return key === null || wanted === null || key.kind !== wanted.kind ? null : compareKeys(key, wanted)
}

/** A list equals every value that one of its items equals. An empty value means null. */
function isEqual(value: unknown, text: string, wanted: OrderKey): boolean {
  if (Array.isArray(value)) return text === '' ? value.length === 0 : value.some((item) => isEqual(item, text, wanted))
  if (value === null || value === undefined) return text === ''
  return comparedText(value) === text || orderedBy(value, wanted) === 0
}

const contains = (value: unknown, text: string): boolean =>
  value !== null && value !== undefined && comparedText(value).toLowerCase().includes(text)

/** An object is compared as JSON, because the data could choose its own conversion to text. */
const comparedText = (value: unknown): string =>
  typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value)

/** The field to order by, and whether the largest comes first. */
interface Ordering {
  path: string
  descending: boolean
}

function orderingOf(typed: string): Ordering {
  const [, dash, path] = /^(-?)([\w.-]+)$/.exec(typed) ?? []
  if (path === undefined) throw usage(`--sort takes FIELD or -FIELD, not ${typed}`, { param: '--sort' })
  return { path, descending: dash === '-' }
}

/** The indexes of the records in their new order. Equal records keep their order; absent values are last. */
function orderedPlaces(records: readonly unknown[], places: readonly number[], ordering: Ordering): number[] {
  const keys = new Map(places.map((place) => [place, orderKey(fieldAt(records[place], ordering.path))]))
  const direction = ordering.descending ? -1 : 1
  return places.toSorted((one, other) => {
    const [first = null, second = null] = [keys.get(one), keys.get(other)]
    const order = compareKeys(first, second)
    return first === null || second === null ? order : order * direction
  })
}

// Orders the values of answers as people expect: numbers exactly, whatever their length, times by moment, then text.

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/
/** Digits after the point that count when decimals are compared. */
const PLACES = 20

/** The sort key of a value: kinds are in order, then values of one kind; an absent value has no key. */
type OrderKey = { kind: 'number'; whole: bigint } | { kind: 'time'; at: number } | { kind: 'text'; text: string } | null

const KINDS = ['number', 'time', 'text'] as const

/** The key of a value. A list or an object is the text of its JSON; null, undefined and the empty text have no key. */
export function orderKey(value: unknown): OrderKey {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'number' || typeof value === 'bigint') return textKey(decimalText(value))
  return typeof value === 'string' ? textKey(value) : { kind: 'text', text: JSON.stringify(value) ?? '' }
}

function textKey(text: string): OrderKey {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole !== undefined) {
    const scaled = BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, '0'))
    return { kind: 'number', whole: sign === '-' ? -scaled : scaled }
  }
  const at = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? { kind: 'text', text } : { kind: 'time', at }
}

/** JavaScript writes very large and very small numbers with an exponent; amounts have none. */
function decimalText(number: number | bigint): string {
  if (typeof number === 'bigint' || Number.isInteger(number)) return String(BigInt(number))
  return Number.isFinite(number) ? number.toFixed(PLACES) : ''
}

/** Negative, zero or positive, as for `sort`. Absent values come last. */
export function compareKeys(one: OrderKey, other: OrderKey): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  if (one.kind === 'number' && other.kind === 'number') return sign(one.whole, other.whole)
  if (one.kind === 'time' && other.kind === 'time') return sign(one.at, other.at)
  if (one.kind === 'text' && other.kind === 'text') {
    return sign(one.text.toLowerCase(), other.text.toLowerCase()) || sign(one.text, other.text)
  }
  return KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind)
}

const sign = <T extends string | number | bigint>(one: T, other: T) => (one < other ? -1 : one > other ? 1 : 0)

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
