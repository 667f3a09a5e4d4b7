/** Scalar schemas that most routes need: texts, ids and times, each with its error and description. */
import { z } from '@hono/zod-openapi'

/** Any value including null, but not absent; used for shapes that external services define. */
export const anything = z.unknown().refine((value) => value !== undefined, 'is required')
/** The value or null. Unlike `nullable()`, a union keeps the reference to a named schema correct in the document. */
export const nullOr = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()])
export const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC' })
/** Pattern without control characters; it has no flags, so that it is valid in the OpenAPI document too. */
export const NO_CONTROLS = /^[^\u0000-\u001f\u007f-\u009f]*$/
/** Arguments for `regex` that reject control characters. */
export const noControls = [NO_CONTROLS, 'must not contain control characters'] as const
/**
 * Text on one line. Control characters are rejected, because PostgreSQL does not store NUL and terminals interpret the
 * others. Unpaired surrogates are rejected too, because databases do not preserve them.
 */
export const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(...noControls)
    .refine((text) => !/\p{Surrogate}/u.test(text), 'must not contain half a surrogate pair')
/** Name of a token: the pattern of spec.md, and at least one letter or digit. */
export const tokenName = z
  .string()
  .regex(/^[a-zA-Z0-9 ]{1,20}$/, 'must be 1 to 20 letters, digits or spaces')
  .refine((text) => text.trim() !== '', 'must not be blank')
/** Id of a stored record as the server returned it. */
export const recordId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the id of a stored record')
export const externalUid = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must be 1 to 128 letters, digits, underscores, hyphens, dots or colons')
