/** Whether a stored filter of a subscription wants an event. */
import type { WebhookFilter } from '../../api/webhook-filters.ts'
import type { Row } from '../schema.ts'

/** A test event is delivered only to the subscription that it is about, regardless of its types and filter. */
export const TEST_EVENT = 'webhook.test_event'

/** The columns of an event that a filter reads. */
type FilteredEvent = Pick<
  Row<'events'>,
  'type' | 'resource_type' | 'resource_id' | 'object_json' | 'external_uid' | 'metadata_json'
>

/** An event whose JSON is parsed at most once, however many filters read it. */
export class ReadEvent {
  readonly row: FilteredEvent
  #object: Record<string, unknown> | undefined
  #texts: ReadonlySet<string> | undefined
  #metadata: Record<string, unknown> | undefined

  constructor(row: FilteredEvent) {
    this.row = row
  }

  /** `data.object` of the event's body. */
  get object(): Record<string, unknown> {
    const { resource_type, resource_id, object_json } = this.row
    this.#object ??= { resource_type, resource_id, ...JSON.parse(object_json) }
    return this.#object as Record<string, unknown>
  }

  /** Every text in `data.object` outside of `metadata`. */
  get texts(): ReadonlySet<string> {
    this.#texts ??= new Set(textsIn(this.object))
    return this.#texts
  }

  get metadata(): Record<string, unknown> {
    this.#metadata ??= JSON.parse(this.row.metadata_json ?? '{}') as Record<string, unknown>
    return this.#metadata
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => (name === 'metadata' ? [] : textsIn(inner)))
}

type Wants = (event: ReadEvent) => boolean

/** The subscription's columns that decide what it wants; a null filter wants all of the types. */
type Wanting = Pick<Row<'webhook_subscriptions'>, 'id' | 'enabled_events_json' | 'filter_json'>

/** Whether the subscription wants the event. */
export const wants = ({ id, enabled_events_json, filter_json }: Wanting, event: ReadEvent): boolean =>
  event.row.type === TEST_EVENT
    ? event.row.resource_id === id
    : compiled(`${enabled_events_json}\n${filter_json ?? '{}'}`)(event)

/** Compiled filters by their text; a changed filter has another text. */
const known = new Map<string, Wants>()
const MOST_KNOWN = 20_000

function compiled(text: string): Wants {
  const found = known.get(text)
  if (found !== undefined) return found
  if (known.size >= MOST_KNOWN) known.clear()
  const [enabled = '[]', filter = '{}'] = text.split('\n')
  const made = compileFilter(JSON.parse(enabled) as string[], JSON.parse(filter) as WebhookFilter)
  known.set(text, made)
  return made
}

/** Makes a function that decides about any event but a test event. */
export function compileFilter(enabled: readonly string[], filter: WebhookFilter): Wants {
  const isOfType = typeTest(enabled, filter.types)
  const resources = new Set(filter.resources?.map(({ type, id }) => `${type}:${id}`))
  const fields = (filter.fields ?? []).map(({ field, values }) => ({ read: reader(field), values: new Set(values) }))
  const { addresses = [] } = filter
  return (event) => {
    const { type, resource_type, resource_id } = event.row
    if (!isOfType(type)) return false
    if (resources.size > 0 && !resources.has(`${resource_type}:${resource_id}`)) return false
    if (addresses.length > 0 && !addresses.some((address) => event.texts.has(address))) return false
    return fields.every(({ read, values }) => read(event).some((value) => values.has(value)))
  }
}

/** Whether a type is enabled and matches one of the patterns. */
export function typeTest(enabled: readonly string[], patterns: readonly string[] | undefined) {
  const [all, exact] = [enabled.includes('*'), new Set(enabled)]
  const kinds = new Set(patterns?.filter((each) => each.endsWith('.*')).map((each) => each.slice(0, -1)))
  const named = new Set(patterns)
  return (type: string): boolean =>
    (all || exact.has(type)) &&
    (patterns === undefined || named.has(type) || kinds.has(type.slice(0, type.indexOf('.') + 1)))
}

/** Reads the texts at a field; several if its path leads through a list. */
function reader(field: string): (event: ReadEvent) => string[] {
  if (field === 'external_uid') return ({ row }) => textOf(row.external_uid)
  const [root, ...path] = field.split('.')
  const name = path.join('.')
  if (root === 'metadata') return ({ metadata }) => (Object.hasOwn(metadata, name) ? textOf(metadata[name]) : [])
  const names = path[0] === 'object' ? path.slice(1) : path
  return ({ object }) => textsAt(object, names)
}

/** Absent fields, null, and values that are not one text, number or boolean have no text. */
function textsAt(value: unknown, path: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textsAt(item, path))
  const [name, ...rest] = path
  if (name === undefined) return textOf(value)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return []
  return textsAt((value as Record<string, unknown>)[name], rest)
}

/** Numbers and booleans as JSON writes them; amounts are digit strings already. */
const textOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : []
