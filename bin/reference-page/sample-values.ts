/** Makes an example of a value from its schema, for answers of which the document has no example of its own. */
import { resolveSchema, type ShownDocument, type ShownSchema } from './document.ts'

/** A schema that holds itself is shown this deep. */
const DEEPEST = 8

/** An example that the schema describes: its own, its default, its first choice, or one made of its parts. */
export function sampleValue(document: ShownDocument, schema: ShownSchema, depth = 0): unknown {
  if (schema.example !== undefined) return schema.example
  if (schema.$ref !== undefined) return sampleValue(document, resolveSchema(document, schema), depth)
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => sampleValue(document, part, depth)))
  }
  const [choice] = schema.oneOf ?? schema.anyOf ?? []
  if (choice !== undefined) return sampleValue(document, choice, depth)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'object':
      return depth > DEEPEST ? {} : objectSample(document, schema, depth)
    case 'array':
      return depth > DEEPEST || schema.items === undefined ? [] : [sampleValue(document, schema.items, depth + 1)]
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'string':
      return stringSample(schema)
    default:
      return null
  }
}

function objectSample(document: ShownDocument, schema: ShownSchema, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      sampleValue(document, property, depth + 1),
    ]),
  )
}

function stringSample({ format, contentEncoding, description }: ShownSchema): string {
  if (format === 'date-time') return '2026-11-24T12:00:00.000Z'
  if (format === 'uri') return 'https://example.com'
  if (contentEncoding === 'base64') return 'AQAB…'
  // Without an example the value is told by its meaning, never by a made-up one.
  return description === undefined ? 'string' : '…'
}
