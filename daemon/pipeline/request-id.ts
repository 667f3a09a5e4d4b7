/** Request ids: a client's own is echoed, otherwise one is made. */
import { randomUUID } from 'node:crypto'
import { badRequest } from '../../src/errors.ts'

export const makeRequestId = () => `req_${randomUUID().replaceAll('-', '')}`

/** For answers outside the pipeline: the id, and what is wrong with the client's where another was made. */
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
