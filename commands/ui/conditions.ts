/** Reads `--filter` and `--sort`: conditions on fields, and the field to order by. */
import { fieldAt } from './field-paths.ts'
import { usage } from './problem.ts'

/** One `--filter`, typed and parsed. */
export interface Condition {
  typed: string
  path: string
  holds(record: unknown): boolean
}

const CONDITION = /^([\w.-]+)(!=|>=|<=|=|~|>|<)(.*)$/s

/** Reads `field=value` and other conditions; throws a usage problem that names the flag and the forms. */
export function conditionOf(typed: string): Condition {
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
export interface Ordering {
  path: string
  descending: boolean
}

export function orderingOf(typed: string): Ordering {
  const [, dash, path] = /^(-?)([\w.-]+)$/.exec(typed) ?? []
  if (path === undefined) throw usage(`--sort takes FIELD or -FIELD, not ${typed}`, { param: '--sort' })
  return { path, descending: dash === '-' }
}

/** The indexes of the records in their new order. Equal records keep their order; absent values are last. */
export function orderedPlaces(records: readonly unknown[], places: readonly number[], ordering: Ordering): number[] {
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
