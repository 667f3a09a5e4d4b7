/**
 * Schemas of `metadata` in a write and of other named values, with limits and without names that a record cannot
 * contain.
 */
import { z } from '@hono/zod-openapi'

/** Stored `metadata` of a write. */
export const storedMetadata = z.record(z.string(), z.string())

/** Limits of `metadata`: entries, characters of a key and of a value, and bytes of the whole as JSON. */
export const METADATA = { entries: 50, key: 40, value: 500, bytes: 16 * 1024 } as const

const byteLength = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

/** A name that is rejected explicitly, because parsing a record would drop it silently. */
const PROTO = '__proto__'
const refuseProto = (input: unknown, context: z.RefinementCtx) => {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, PROTO)) return input
  context.addIssue({ code: 'custom', path: [PROTO], message: 'cannot be used as a name: choose another' })
  return z.NEVER
}
/** Named values of any type. */
export const anyRecord = z.preprocess(refuseProto, z.record(z.string(), z.unknown())).openapi({
  type: 'object',
  additionalProperties: {},
}) as unknown as z.ZodType<Record<string, unknown>, Record<string, unknown>>

/**
 * Checks number and names of the entries before the record is parsed, because the parser would not name the invalid
 * key.
 */
function checkEntries(input: unknown, context: z.RefinementCtx): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  const keys = Object.keys(input)
  if (keys.length > METADATA.entries) {
    const message = `has ${keys.length} entries; at most ${METADATA.entries} are stored: leave some out`
    context.addIssue({ code: 'custom', path: [], message })
    return z.NEVER
  }
  for (const key of keys) {
    if (key.length >= 1 && key.length <= METADATA.key) continue
    const message = `has a name of ${key.length} characters; a name has 1 to ${METADATA.key}`
    context.addIssue({ code: 'custom', path: [key], message })
  }
  return refuseProto(input, context)
}

const METADATA_SCHEMA = {
  type: 'object' as const,
  maxProperties: METADATA.entries,
  propertyNames: { minLength: 1, maxLength: METADATA.key },
  additionalProperties: { type: 'string' as const, maxLength: METADATA.value },
  description: `At most ${METADATA.entries} entries and ${METADATA.bytes / 1024} KiB as JSON`,
}

/** Schema of `metadata` in a write; it is limited because every record and event of the write stores it. */
export const metadata = z
  .preprocess(
    checkEntries,
    z
      .record(z.string(), z.string().max(METADATA.value))
      .refine(
        (entries) => byteLength(entries) <= METADATA.bytes,
        `is larger than ${METADATA.bytes / 1024} KiB as JSON: send less`,
      ),
  )
  .openapi(METADATA_SCHEMA as object) as unknown as z.ZodType<Record<string, string>, Record<string, string>>
