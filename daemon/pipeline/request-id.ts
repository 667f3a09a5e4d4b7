/** Request ids: the id that a client sends is returned to it; otherwise a new one is made. */
import { randomUUID } from 'node:crypto'
import { badRequest } from '../../src/errors.ts'

export const makeRequestId = () => `req_${randomUUID().replaceAll('-', '')}`

/**
 * The id for answers outside the pipeline. Where the client's id is invalid, the id is new and `fault` is the error.
 */
export function requestIdOf(request: Request): { id: string; fault?: unknown } {
  try {
    return { id: readRequestId(request.headers.get('x-request-id')) }
  } catch (fault) {
    return { id: makeRequestId(), fault }
  }
}

/** The client's id (1-128 visible ASCII characters) or a new one; throws bad_request for any other value. */
export function readRequestId(header: string | null): string {
  if (header === null) return makeRequestId()
  if (/^[\x21-\x7e]{1,128}$/.test(header)) return header
  throw badRequest('X-Request-Id must be 1 to 128 visible ASCII characters', { param: 'X-Request-Id' })
}
