/** `metadata` of a write and other named values: bounded, and without names that a record cannot hold. */
import { z } from '@hono/zod-openapi'

/** What was stored of a write's `metadata`; rows of an earlier version may be larger than what is taken today. */
export const storedMetadata = z.record(z.string(), z.string())

/** Most of `metadata`: entries, characters of a key and of a value, and bytes of all of it as JSON. */
export const METADATA = { entries: 50, key: 40, value: 500, bytes: 16 * 1024 } as const

const byteLength = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

/** Refused by its name: a record that is read drops it without a word. */
const PROTO = '__proto__'
const refuseProto = (given: unknown, context: z.RefinementCtx) => {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, PROTO)) return given
  context.addIssue({ code: 'custom', path: [PROTO], message: 'is not a name that can be used: choose another' })
  return z.NEVER
}
/** Named values of any kind. */
export const anyRecord = z.preprocess(refuseProto, z.record(z.string(), z.unknown())).openapi({
  type: 'object',
  additionalProperties: {},
}) as unknown as z.ZodType<Record<string, unknown>, Record<string, unknown>>

/** Tells of number and names of the entries before the record is read, which would name no key that is at fault. */
function checkEntries(given: unknown, context: z.RefinementCtx): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const keys = Object.keys(given)
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
  return refuseProto(given, context)
}

const METADATA_SCHEMA = {
  type: 'object' as const,
  maxProperties: METADATA.entries,
  propertyNames: { minLength: 1, maxLength: METADATA.key },
  additionalProperties: { type: 'string' as const, maxLength: METADATA.value },
  description: `At most ${METADATA.entries} entries and ${METADATA.bytes / 1024} KiB as JSON`,
}

/** `metadata` of a write (contract 1): bounded, as it is stored beside every record and event that the write makes. */
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
