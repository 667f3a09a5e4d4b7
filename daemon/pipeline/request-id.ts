/** Request ids: the id that a client sends is returned to it; otherwise a new one is made. */
import { badRequest } from '../../src/platform/errors.ts'
import { randomHex } from '../../src/platform/telemetry/trace-context.ts'

export const makeRequestId = () => `req_${randomHex(16)}`

/**
 * The client's id of the header X-Request-Id (1-128 visible ASCII characters) or a new one. If the client's id is
 * invalid, the id is new and `fault` is the error.
 */
export function requestIdOf(header: string | null): { id: string; isClients: boolean; fault?: unknown } {
  if (header === null) return { id: makeRequestId(), isClients: false }
  if (/^[\x21-\x7e]{1,128}$/.test(header)) return { id: header, isClients: true }
  // A header that is sent twice arrives as one, joined by a comma and a space.
  const said = header.includes(', ') ? 'has two values, or a space: send one value of' : 'must be'
  const fault = badRequest(`X-Request-Id ${said} 1 to 128 visible ASCII characters`, { param: 'X-Request-Id' })
  return { id: makeRequestId(), isClients: false, fault }
}
