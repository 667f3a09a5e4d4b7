/** Reads the small bodies of the routes that are called without a key. */
import type { Context as HonoContext } from 'hono'
import { badRequest } from '../../src/platform/errors.ts'
import { rejectLate, SECOND_MS } from '../../src/platform/timing.ts'
import { declaredLength, parseJsonObject, readRequestBody } from './body.ts'
import type { RequestEnv } from './request-record.ts'

/** How long a body may take after the arrival of its headers. */
const BODY_MS = 5_000

/** The fields of a JSON body of at most `ceiling` bytes. Throws bad_request for any other, and for one that is late. */
export async function readVisitorFields(
  { req, env }: HonoContext<RequestEnv>,
  ceiling: number,
): Promise<Record<string, unknown>> {
  const contentType = req.header('content-type') ?? ''
  const declared = declaredLength(req.header('content-length') ?? null, ceiling)
  const body = readRequestBody(env.incoming ?? req.raw, { contentType, ceiling, declared, inspect: undefined })
  return parseJsonObject(await rejectLate(BODY_MS, body, sentTooSlowly))
}

const sentTooSlowly = () => badRequest(`The body was not sent within ${BODY_MS / SECOND_MS} seconds`)
