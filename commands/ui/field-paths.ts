/** Reads fields of an answer by their names, with dots for nested ones: `earnings.partner.claimable`. */
import { printable } from './render.ts'

/** How many records are searched for names of fields, and how many names a message lists. */
const RECORDS_LOOKED_AT = 200
const NAMES_LISTED = 60
const DEEPEST = 4

/** The value at a path; undefined if the record has none. Only own fields count, not those that JavaScript adds. */
export function fieldAt(record: unknown, path: string): unknown {
  if (isObject(record) && Object.hasOwn(record, path)) return record[path]
  let value = record
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name) || (Array.isArray(value) && name === 'length')) return undefined
    value = value[name]
  }
  return value
}

/** Whether the record has that field, even if it is null. */
export const hasField = (record: unknown, path: string): boolean => fieldAt(record, path) !== undefined

/** The names of the fields of records, nested ones after their parent, in the order of the API. */
export function fieldNames(records: readonly unknown[]): string[] {
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
export function listedNames(names: readonly string[]): string {
  const listed = names.slice(0, NAMES_LISTED).map((name) => printable(name).slice(0, 80))
  return `${listed.join(', ')}${names.length > NAMES_LISTED ? ', …' : ''}`
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
