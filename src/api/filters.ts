/** Schemas of list filters: times and flags, which are text in a query. */
import { z } from '@hono/zod-openapi'

/** A time as ISO 8601 or Unix seconds; it is converted to Unix milliseconds. */
export const moment = z
  .union([z.iso.datetime({ offset: true }), z.string().regex(/^[0-9]{1,11}$/), z.int().min(0).max(99_999_999_999)], {
    error: 'must be an ISO 8601 time or Unix seconds',
  })
  .transform((input) => (/^[0-9]+$/.test(String(input)) ? Number(input) * 1000 : Date.parse(String(input))))
  .openapi({
    type: ['string', 'integer'],
    description: 'ISO 8601 time, or Unix seconds',
    example: '2026-05-01T00:00:00Z',
  })
/** Query boolean, either `true` or `false`. */
export const queryFlag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .openapi({ type: 'boolean' })
