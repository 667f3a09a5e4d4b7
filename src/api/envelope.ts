/** Structures that all endpoints share: common fields, list parameters, meta, errors and transaction payloads. */

import { z } from '@hono/zod-openapi'
import { eventType } from './event-types.ts'
import { metadata, storedMetadata } from './metadata.ts'
import { address, externalUid, line, signatureText, transactionBase64 } from './scalars.ts'

export const mode = z.enum(['unsigned', 'signed']).default('unsigned')

/** The three fields that every write accepts. */
export const commonFields = {
  mode,
  externalUid: externalUid.optional(),
  metadata: metadata.optional(),
}

/** Creates the body of a write: the given fields and the common ones; all other fields are rejected. */
export function writeBody<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject({ ...shape, ...commonFields })
}

const LIMIT = 'must be a whole number from 1 to 100, sent once'
/** Page size in decimal digits only; other notations are rejected and the value is never clamped. */
const pageLimit = z
  .string({ error: LIMIT })
  .regex(/^[1-9][0-9]{0,2}$/, { error: LIMIT, abort: true })
  .transform(Number)
  .refine((limit) => limit <= 100, LIMIT)
  .default(20)
  .openapi({ type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Items on a page' })

/** Creates the body of a write that builds a transaction, which supports a dry run. */
export function buildBody<S extends z.ZodRawShape>(shape: S) {
  return writeBody({
    ...shape,
    dry_run: z.boolean().default(false).meta({
      description:
        'Checks and builds as usual, and leaves nothing behind: no record, event, file, ticker, signature of the platform or stored Idempotency-Key',
    }),
  })
}

/** Creates the query of a list: its filters, `limit` and `cursor`; all other parameters are rejected. */
export function listQuery<S extends z.ZodRawShape>(filters: S) {
  return z.strictObject({
    ...filters,
    limit: pageLimit,
    cursor: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,512}$/, 'must be the next_cursor of the previous page')
      .optional()
      .meta({ description: 'meta.next_cursor of the previous page' }),
  })
}

export const metaSchema = z
  .object({
    request_id: z.string(),
    external_uid: z.string().optional(),
    metadata: storedMetadata.optional(),
  })
  .openapi('Meta')

export const listMetaSchema = z
  .object({
    request_id: z.string(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    count: z.int().min(0),
  })
  .openapi('ListMeta')

export const errorSchema = z
  .object({
    error: z.object({
      code: z.enum([
        'bad_request',
        'unauthorized',
        'forbidden',
        'not_found',
        'conflict',
        'rate_limited',
        'internal_error',
      ]),
      message: z.string(),
      param: z.string().optional(),
      details: z.record(z.string(), z.unknown()).optional(),
      doc_url: z.string().optional(),
    }),
    meta: z.object({ request_id: z.string() }),
  })
  .openapi('Error')

/** Hint that a build returns and that the client sends verbatim as `tracked_resource` on the submit. */
export const trackedResource = z
  .strictObject({
    resource_type: line(64),
    resource_id: line(256),
    related_events: z.array(eventType).max(5).default([]),
  })
  .openapi('TrackedResource')
export type TrackedResource = z.output<typeof trackedResource>

const unsignedShape = {
  mode: z.literal('unsigned'),
  transaction: transactionBase64,
  requiredSigners: z.array(address).optional().meta({ description: 'Who must still sign' }),
  tracked_resource: trackedResource.optional(),
}
/** Creates the unsigned transaction payload with the additional fields of a build. */
export function unsignedPayload<S extends z.ZodRawShape>(more: S) {
  return z.object({ ...unsignedShape, ...more })
}
/** Creates the signed transaction payload with the additional fields of an operation. */
export function signedPayload<S extends z.ZodRawShape>(more: S) {
  return z.object({ mode: z.literal('signed'), signature: signatureText, ...more })
}
/** Either payload, distinguished by `mode`. */
export const eitherPayload = z
  .discriminatedUnion('mode', [unsignedPayload({}), signedPayload({})])
  .openapi('TransactionPayload')

/** Response to the deletion of a stored record. */
export const deletedSchema = z.object({ id: z.string(), deleted: z.literal(true) }).openapi('Deleted')
