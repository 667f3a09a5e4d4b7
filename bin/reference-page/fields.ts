/** Shows schemas: what a value may be, and the fields of an object as a list. */
import { html } from 'hono/html'
import { referenceName, type ShownSchema } from './document.ts'
import { inline, type Markup, NOTHING, schemaId } from './prose.ts'

/** Patterns that have a name, so that nobody has to read them. */
const PATTERNS: Readonly<Record<string, string>> = {
  '^[1-9A-HJ-NP-Za-km-z]{32,44}$': 'base58 address',
  '^[1-9A-HJ-NP-Za-km-z]{43,90}$': 'base58 signature',
  '^[0-9]+$': 'digits',
  '^-?[0-9]+$': 'digits, with or without a minus',
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*$': 'no control characters',
}

const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'ISO 8601 time', uri: 'URL' }

const number = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 20 })

function range(least: number | undefined, most: number | undefined, unit = ''): string[] {
  if (least !== undefined && most !== undefined) {
    return [`${least === most ? number(most) : `${number(least)}–${number(most)}`}${unit}`]
  }
  // Nobody has to be told that a text or a list is not empty.
  if (least !== undefined && (unit === '' || least > 1)) return [`at least ${number(least)}${unit}`]
  return most === undefined ? [] : [`at most ${number(most)}${unit}`]
}

/** What bounds the value, in words: length, size, pattern. */
function bounds(schema: ShownSchema): Markup[] {
  const { format, pattern, contentEncoding } = schema
  const words = [
    ...(contentEncoding === undefined ? [] : [contentEncoding]),
    ...(format === undefined ? [] : [FORMATS[format] ?? format]),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minimum, schema.maximum),
    ...(schema.exclusiveMinimum === undefined ? [] : [`more than ${number(schema.exclusiveMinimum)}`]),
    ...range(schema.minItems, schema.maxItems, ' items'),
    ...range(undefined, schema.maxProperties, ' fields'),
  ].map((text) => html`${text}`)
  if (pattern === undefined) return words
  const named = PATTERNS[pattern]
  return [...words, named === undefined ? html`<code>${pattern}</code>` : html`${named}`]
}

const types = ({ type }: ShownSchema): string[] => (type === undefined ? [] : [type].flat())

/** The type in words: `array of Pool`, `string or null`, `one of a, b`. */
export function typeWords(schema: ShownSchema): Markup {
  if (schema.$ref !== undefined) {
    const name = referenceName(schema.$ref)
    return html`<a href="#${schemaId(name)}">${name}</a>`
  }
  const choices = schema.oneOf ?? schema.anyOf
  if (choices !== undefined) return html`${separated(choices.map(typeWords), ' or ')}`
  if (schema.allOf !== undefined) return html`${separated(schema.allOf.map(typeWords), ' and ')}`
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => html`<code>${value === null ? 'null' : String(value)}</code>`)
    return html`${separated(values, ', ')}`
  }
  if (types(schema).includes('array') && schema.items !== undefined) {
    return html`array of ${typeWords(schema.items)}${types(schema).includes('null') ? ' or null' : ''}`
  }
  const of = schema.additionalProperties
  if (schema.properties === undefined && typeof of === 'object' && Object.keys(of).length > 0) {
    return html`object of ${typeWords(of)}`
  }
  return html`${types(schema).join(' or ') || 'anything'}`
}

const separated = (parts: Markup[], by: string) => parts.map((part, at) => (at === 0 ? part : html`${by}${part}`))

function standing(schema: ShownSchema, required: boolean): Markup {
  if (required) return html` <b>required</b>`
  if (schema.default === undefined) return NOTHING
  return html` <span class="default">· default <code>${JSON.stringify(schema.default)}</code></span>`
}

/** One field or parameter, with the fields below it. */
export function field(name: string, schema: ShownSchema, required: boolean, about = schema.description): Markup {
  const facts = [typeWords(schema), ...bounds(schema)]
  return html`<li><code class="name">${name}</code> <span class="type">${separated(facts, ' · ')}</span>${standing(schema, required)}${about === undefined ? NOTHING : html`<br>${inline(about)}`}${fieldsBelow(schema)}</li>
`
}

/** The fields of an object, of the objects of a list, or of each shape that a value can have. */
export function fieldsBelow(schema: ShownSchema): Markup {
  if (schema.$ref !== undefined) return NOTHING
  const shapes = schema.oneOf ?? schema.anyOf ?? schema.allOf
  if (shapes !== undefined) {
    const own = shapes.filter((shape) => shape.$ref === undefined && shape.properties !== undefined)
    return html`${own.map((shape, at) => html`${own.length > 1 && schema.allOf === undefined ? html`<p class="shape">Shape ${at + 1}</p>` : NOTHING}${fieldsBelow(shape)}`)}`
  }
  if (schema.items !== undefined) return fieldsBelow(schema.items)
  if (schema.properties === undefined) {
    return typeof schema.additionalProperties === 'object' ? fieldsBelow(schema.additionalProperties) : NOTHING
  }
  const required = new Set(schema.required)
  const entries = Object.entries(schema.properties)
  if (entries.length === 0) return NOTHING
  return html`<ul class="fields">${entries.map(([name, property]) => field(name, property, required.has(name)))}</ul>`
}
