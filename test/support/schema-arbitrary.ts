/** JSON Schema (as our OpenAPI document uses it) to fast-check arbitraries: values that fit, and values that don't. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { NO_CONTROLS } from '../../src/api/scalars.ts'
import { anyText } from './any-text.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema from outside, read by its keywords
export type Schema = any

const ADDRESS = '^[1-9A-HJ-NP-Za-km-z]{32,44}$'
const ONE_LINE = NO_CONTROLS.source
const ITEMS = 4
const LENGTH = 40

const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes))
const uri = fc.constantFrom(
  'https://example.com',
  'https://example.com:8443/a/b?c=d#e',
  'http://127.0.0.1:1/',
  'ipfs://x',
  'https://[::1]/',
  'https://xn--9ca.example/ü',
)
const moment = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString())

/** Values that the schema accepts, but for what only its prose says. */
export function fitting(schema: Schema, document: Schema): fc.Arbitrary<unknown> {
  const inner = (part: Schema) => fitting(part, document)
  if (schema.$ref !== undefined) return inner(resolveRef(schema.$ref, document))
  if (schema.allOf !== undefined)
    return inner(Object.assign({}, ...schema.allOf.map((part: Schema) => deref(part, document))))
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return fc.oneof(...either.map(inner))
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type: string) => inner({ ...schema, type })))
  switch (schema.type) {
    case 'string':
      return fittingString(schema)
    case 'integer': {
      const { minimum = -1000, maximum = 2 ** 40 } = schema
      return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum))
    }
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1e9, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const minLength = schema.minItems ?? 0
      const maxLength = Math.max(minLength, Math.min(schema.maxItems ?? ITEMS, ITEMS))
      return fc.array(inner(schema.items ?? {}), { minLength, maxLength })
    }
    case 'object':
      return fittingObject(schema, inner)
    default:
      return fc
        .anything({ maxDepth: 1, withNullPrototype: false })
        .map((value) => JSON.parse(JSON.stringify(value) ?? 'null'))
  }
}

function fittingObject(schema: Schema, inner: (part: Schema) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  if (Object.keys(properties).length === 0 && additionalProperties) {
    return fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }),
      inner(additionalProperties === true ? {} : additionalProperties),
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    )
  }
  const fields = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inner(part)]))
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true })
}

function fittingString(schema: Schema): fc.Arbitrary<string> {
  if (schema.pattern === ADDRESS) return address
  if (schema.format === 'uri') return uri
  if (schema.format === 'date-time' || schema.example === '2026-11-21T00:00:00Z') return moment
  if (schema.contentEncoding === 'base64')
    return fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  if (schema.pattern !== undefined && schema.pattern !== ONE_LINE)
    return fc.stringMatching(new RegExp(schema.pattern), { maxLength: 128 })
  const minLength = schema.minLength ?? 0
  const maxLength = Math.min(schema.maxLength ?? LENGTH, LENGTH)
  return fc
    .string({
      minLength,
      maxLength,
      unit: fc.constantFrom('a', 'Z', '0', ' ', '-', 'é', '😀', "'", '"', '%', '\u0000'),
    })
    .filter((text) => text.length >= minLength && text.length <= maxLength)
    .map((text) => (schema.pattern === ONE_LINE ? text.replaceAll('\u0000', '!') : text))
}

/** Values of every kind that no field expects; all of them can be said in JSON. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\uffff',
    '\u202e\u2066',
    '__proto__',
    'constructor',
    '../../etc/passwd',
    "' OR 1=1 --",
    '<script>alert(1)</script>',
    'x'.repeat(70_000),
    '9'.repeat(400),
    '1e400',
    -1,
    0,
    -0,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    1e308,
    5e-324,
    [],
    [[]],
    {},
    { length: 1e9 },
    { toString: 1, valueOf: null },
    Array.from({ length: 2000 }, () => 0),
  ),
  anyText({ maxLength: 50 }),
  fc.jsonValue({ maxDepth: 3 }),
)

const fieldNames = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'mode',
  'metadata',
  'externalUid',
  'id',
  'x',
  '',
)

/** A fitting object with one to three things wrong: a field replaced, missing or added, at any depth. */
export function broken(schema: Schema, document: Schema): fc.Arbitrary<unknown> {
  const fault = fc.record({
    kind: fc.constantFrom('replace', 'remove', 'add'),
    at: fc.nat(),
    name: fieldNames,
    value: hostile,
  })
  return fc
    .tuple(fitting(schema, document), fc.array(fault, { minLength: 1, maxLength: 3 }))
    .map(([value, faults]) =>
      faults.reduce<unknown>((spoilt, { kind, at, name, value }) => spoil(spoilt, kind, at, name, value), value),
    )
}

function spoil(value: unknown, kind: string, at: number, name: string, put: unknown): unknown {
  if (typeof value !== 'object' || value === null) return put
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value }
  const keys = Object.keys(copy)
  const key = keys[at % (keys.length || 1)]
  const fields = copy as Record<string, unknown>
  if (kind === 'add' || key === undefined) {
    if (Array.isArray(copy)) copy.push(put)
    // Assignment would set the prototype; JSON text with this name makes a field.
    else Object.defineProperty(copy, name, { value: put, enumerable: true, configurable: true, writable: true })
  } else if (typeof fields[key] === 'object' && fields[key] !== null && at % 3 > 0) {
    fields[key] = spoil(fields[key], kind, Math.floor(at / 3), name, put)
  } else if (kind === 'remove') delete fields[key]
  else fields[key] = put
  return copy
}

function resolveRef(ref: string, document: Schema): Schema {
  return ref
    .slice(2)
    .split('/')
    .reduce((part, name) => part[name], document)
}

const deref = (schema: Schema, document: Schema): Schema =>
  schema.$ref === undefined ? schema : resolveRef(schema.$ref, document)
