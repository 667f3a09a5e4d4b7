/** Schemas that only the OpenAPI document needs: envelopes of answers, headers of requests. Made on first use. */
import { z } from '@hono/zod-openapi'
import { storedMetadata } from './metadata.ts'

let made: ReturnType<typeof makeSchemas> | undefined

export const documentSchemas = () => {
  made ??= makeSchemas()
  return made
}

function makeSchemas() {
  const metaSchema = z
    .object({
      request_id: z.string(),
      external_uid: z.string().optional(),
      metadata: storedMetadata.optional(),
    })
    .openapi('Meta')

  const listMetaSchema = z
    .object({
      request_id: z.string(),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
      count: z.int().min(0),
    })
    .openapi('ListMeta')

  const errorSchema = z
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

  const proposedSchema = z
    .object({
      mode: z.literal('proposed'),
      proposal: z
        .looseObject({ id: z.string(), status: z.string(), next: z.string().nullable() })
        .meta({ description: 'The whole proposal, as GET /v2/proposals/{id} answers it' }),
    })
    .openapi('WaitsForApproval')

  const requestHeaders = z.object({
    'x-request-id': z
      .string()
      .regex(/^[!-~]{1,128}$/)
      .optional()
      .meta({ description: 'Up to 128 visible ASCII characters, echoed in X-Request-Id and meta.request_id' }),
  })
  const writeHeaders = requestHeaders.extend({
    'idempotency-key': z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: 'Makes it safe to retry this write; a v4 UUID is recommended' }),
  })

  return { proposedSchema, metaSchema, listMetaSchema, errorSchema, requestHeaders, writeHeaders }
}
