/** Schemas of list filters: times and flags, which are text in a query. */
import { z } from '@hono/zod-openapi'
import { calendarMoment } from '../platform/calendar.ts'

const UNIX_SECONDS = /^[0-9]{1,11}$/

/** A time or a date as ISO 8601, or Unix seconds; it is converted to Unix milliseconds. */
export const moment = z
  .union([z.string(), z.int()])
  .transform((input) => (UNIX_SECONDS.test(String(input)) ? Number(input) * 1000 : calendarMoment(String(input))))
  .refine((at) => at !== null, 'must be an ISO 8601 time or Unix seconds')
  .transform((at) => at ?? 0)
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
