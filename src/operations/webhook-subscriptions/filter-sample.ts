/** Checks the filter of a subscription against what events say, and makes an event that matches it. */
import { z } from '@hono/zod-openapi'
import { familyOf, objectOf, sampleObject } from '../../api/event-catalog.ts'
import { EVENT_TYPES, type EventType } from '../../api/event-types.ts'
import type { Event } from '../../api/events.ts'
import type { WebhookFilter } from '../../api/webhook-filters.ts'
import { badRequest } from '../../platform/errors.ts'
import { printableLine } from '../../platform/printable.ts'
import { isAddress } from '../../solana/addresses.ts'
import type { AppendedEvent } from '../../store/events/events.ts'
import { compileFilter, ReadEvent, TEST_EVENT, typeTest } from '../../store/webhooks/filter-match.ts'
import { eventRecord } from '../api-records.ts'

type Fields = Record<string, unknown>

/** Types that a message lists. */
const MOST_NAMED = 6

/** Returns an event that the filter matches. Throws bad_request, which names the part that no event can match. */
export function sampleEvent(enabled: readonly string[], filter: WebhookFilter, now: number): Event {
  const types = wantedTypes(enabled, filter)
  checkResources(types, filter)
  checkFields(types, filter)
  const matches = compileFilter(enabled, filter)
  for (const type of types) {
    const row = sampleRow(type, filter, now)
    if (row !== null && matches(new ReadEvent(row))) return eventRecord(row)
  }
  const listed = types.length > MOST_NAMED ? `events of ${types.length} types` : `events of ${types.join(', ')}`
  const addressless =
    filter.addresses !== undefined && types.every((type) => addressesIn(sampleObject(type)).length === 0)
  throw refused(
    addressless ? 'filter.addresses' : 'filter',
    addressless ? `${listed} have no address` : `no event has all of this at once; the filter is for ${listed}`,
  )
}

const refused = (param: string, message: string) => badRequest(`${param}: ${message}`, { param })

function wantedTypes(enabled: readonly string[], { types: patterns }: WebhookFilter): EventType[] {
  for (const [at, pattern] of (patterns ?? []).entries()) {
    if (EVENT_TYPES.some(typeTest(['*'], [pattern]))) continue
    const kinds = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))]
    throw refused(
      `filter.types.${at}`,
      `there is no event type ${pattern} (GET /v2/webhook-event-types, \`svc events types\`); all of a kind: ${kinds.join(', ')}`,
    )
  }
  const types = EVENT_TYPES.filter(typeTest(enabled, patterns)).filter((type) => type !== TEST_EVENT)
  if (types.length > 0) return types
  if (patterns !== undefined) throw refused('filter.types', `none of them is in enabled_events (${enabled.join(', ')})`)
  throw refused('filter', `${TEST_EVENT} is never filtered: leave the filter out`)
}

function checkResources(types: readonly EventType[], { resources = [] }: WebhookFilter): void {
  for (const [at, { type, id }] of resources.entries()) {
    const about = types.filter((each) => familyOf(each).resourceType === type)
    const known = [...new Set(types.map((each) => familyOf(each).resourceType))].join(', ')
    if (about.length === 0) {
      const given = printableLine(type, 64)
      throw refused(`filter.resources.${at}.type`, `events of these types are not about ${given}, but about ${known}`)
    }
    if (about.some((each) => objectOf(each).safeParse(withResource(sampleObject(each), id)).success)) continue
    throw refused(`filter.resources.${at}.id`, `${printableLine(id, 64)} is not the id of a ${type}`)
  }
}

function checkFields(types: readonly EventType[], { fields = [] }: WebhookFilter): void {
  for (const [at, { field, values }] of fields.entries()) {
    const having = types.filter((type) => hasField(type, field))
    if (having.length === 0) {
      const known = [...new Set(types.flatMap(fieldsOf)), 'external_uid', 'metadata.NAME']
      throw refused(
        `filter.fields.${at}.field`,
        `events of these types have no field ${printableLine(field, 128)}; they have ${known.join(', ')}`,
      )
    }
    for (const [place, value] of values.entries()) {
      const faults = having.map((type) => valueFault(type, field, value))
      if (faults.every((fault) => fault !== null)) {
        const param = `filter.fields.${at}.values.${place}`
        throw refused(param, `${field} cannot be ${printableLine(value, 64)}: ${faults[0]}`)
      }
    }
  }
}

const namesOf = (field: string): string[] => field.replace(/^data\.(?:object\.)?/, '').split('.')
const isOfObject = (field: string): boolean => field.startsWith('data.')

const hasField = (type: EventType, field: string): boolean =>
  isOfObject(field)
    ? fieldsOf(type).some((known) => {
        const own = `data.${namesOf(field).join('.')}`
        return known === own || (known.endsWith('.*') && own.startsWith(known.slice(0, -1)))
      })
    : field === 'external_uid' || /^metadata\../.test(field)

type JsonSchema = z.core.JSONSchema.BaseSchema
const knownFields = new Map<EventType, string[]>()

/** Fields of an event that have a value, such as `data.mint`; `data.metadata.*` stands for any name. */
function fieldsOf(type: EventType): string[] {
  const known = knownFields.get(type)
  if (known !== undefined) return known
  const schema = z.toJSONSchema(objectOf(type), { unrepresentable: 'any' }) as JsonSchema
  const fields = [...new Set(leavesOf(schema, 'data'))]
  knownFields.set(type, fields)
  return fields
}

function leavesOf(schema: JsonSchema, at: string): string[] {
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return either.flatMap((each) => leavesOf(each as JsonSchema, at))
  if (schema.type === 'null') return []
  if (schema.type === 'array') return leavesOf((schema.items ?? {}) as JsonSchema, at)
  const { properties } = schema
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, each]) => leavesOf(each as JsonSchema, `${at}.${name}`))
  if (schema.type === 'object') return [`${at}.*`]
  return schema.type === undefined && schema.enum === undefined ? [at, `${at}.*`] : [at]
}

/** Why no event of the type can have the value; null if one can. */
function valueFault(type: EventType, field: string, value: string): string | null {
  const set = withField(sampleObject(type), type, field, value)
  return typeof set === 'string' ? set : null
}

/** The object with a value at a field, as a text, a number or a boolean; a text says why it cannot have it. */
function withField(object: Fields, type: EventType, field: string, value: string): Fields | string {
  if (!isOfObject(field)) return object
  const [name = '', ...path] = namesOf(field)
  const schema = objectOf(type).shape[name] as z.ZodType | undefined
  let fault = `${type} does not have it`
  for (const candidate of [value, Number(value), value === 'true']) {
    // Another spelling of a number or a boolean never equals what an event has.
    if (schema === undefined || String(candidate) !== value) continue
    const set = withValue(object[name], path, candidate)
    const { error } = schema.safeParse(set)
    if (error === undefined) return { ...object, [name]: set }
    fault = error.issues[0]?.message ?? fault
  }
  return fault
}

function withValue(value: unknown, path: readonly string[], leaf: unknown): unknown {
  if (Array.isArray(value)) return [withValue(value[0], path, leaf)]
  const [name, ...rest] = path
  if (name === undefined) return leaf
  const object = typeof value === 'object' && value !== null ? (value as Fields) : {}
  return { ...object, [name]: withValue(object[name], rest, leaf) }
}

const addressesIn = (object: Fields): string[] =>
  Object.values(object).filter((value) => typeof value === 'string' && isAddress(value)) as string[]

/** The object with every value that is `from` replaced: the id of a resource is often in a field too. */
const replaced = (object: Fields, from: unknown, to: string): Fields =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, value === from ? to : value]))

const withResource = (object: Fields, id: string): Fields => replaced(object, object.resource_id, id)

/** An event of this type with what the filter names; null if none can have it. */
function sampleRow(type: EventType, filter: WebhookFilter, now: number): AppendedEvent | null {
  const { resources, addresses, fields = [] } = filter
  let object = sampleObject(type)
  const resource = resources?.find((each) => each.type === object.resource_type)
  if (resources !== undefined && resource === undefined) return null
  if (resource !== undefined) object = withResource(object, resource.id)
  const [address] = addresses ?? []
  if (address !== undefined && !addressesIn(object).some((each) => addresses?.includes(each))) {
    const taken = new Set(fields.map(({ field }) => object[namesOf(field)[0] ?? '']))
    const free = addressesIn(object).find((each) => each !== resource?.id && !taken.has(each))
    if (free === undefined) return null
    object = replaced(object, free, address)
  }
  const metadata: Record<string, string> = {}
  let uid: string | null = null
  for (const { field, values } of fields) {
    const value = values.find((each) => typeof withField(object, type, field, each) !== 'string')
    if (value === undefined || !hasField(type, field)) return null
    if (field === 'external_uid') uid = value
    else if (!isOfObject(field)) metadata[field.slice('metadata.'.length)] = value
    object = withField(object, type, field, value) as Fields
  }
  if (objectOf(type).safeParse(object).error !== undefined) return null
  const { resource_type, resource_id, ...own } = object as { resource_type: string; resource_id: string }
  return {
    ...{ sequence: 1, id: 'evt_sample', type, resource_type, resource_id, object_json: JSON.stringify(own) },
    ...{ external_uid: uid, metadata_json: Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata) },
    ...{ dedupe_key: '', created_at: now },
  }
}
