/** Reads `--filter` and `--sort`: conditions on fields, and the field to order by. */
import { fieldAt } from './field-paths.ts'
import { usage } from './problem.ts'
import { compareKeys, type OrderKey, orderKey } from './value-order.ts'

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
