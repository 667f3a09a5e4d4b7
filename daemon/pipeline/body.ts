/** Request bodies: bounded reading, JSON and multipart, and the hash that an Idempotency-Key is bound to. */

import { isAscii } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { AnyRoute } from '../../src/api/route.ts'
import type { Config } from '../../src/config.ts'
import { type ApiError, badRequest } from '../../src/errors.ts'
import { KIB, MIB } from './body-room.ts'
import { LARGE_FIELD, readForm } from './form.ts'
import { JsonBounds } from './json-bounds.ts'

export interface RequestBody {
  raw: Uint8Array<ArrayBuffer>
  multipart: boolean
  contentType: string
  /** The parsed form, once it was asked for. */
  form?: Promise<FormData>
}

/** Bytes of everything but a tree's entries and a pool's image. */
export const jsonCeiling = ({ values }: Pick<Config, 'values'>): number => values['json-limit-kib'] * KIB

/** Bytes that a body of this route may have. */
export function bodyCeiling({ large }: AnyRoute, config: Pick<Config, 'values'>): number {
  return large ? config.values['body-limit-mib'] * MIB : jsonCeiling(config)
}

const byteUnits = (bytes: number) => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`)

function tooLarge(ceiling: number): ApiError {
  return badRequest(`The request body is larger than ${byteUnits(ceiling)}`, { details: { limit_bytes: ceiling } })
}

/** The length that the request declares, 0 for none; throws bad_request where that is beyond the ceiling. */
export function declaredLength(request: Request, ceiling: number): number | undefined {
  const header = request.headers.get('content-length')
  if (header === null || !/^\d+$/.test(header)) return undefined
  const length = Number(header)
  if (length > ceiling) throw tooLarge(ceiling)
  return length
}

/** Takes each piece of a body as it arrives; throws where the rest is not worth reading. */
export type Inspect = (piece: Uint8Array) => void

const isForm = (contentType: string) => /^multipart\/form-data\b/i.test(contentType)

/** What looks at a body while it arrives: at JSON for its bounds; none for a form, and where the route reads the bytes itself. */
export function inspectorOf({ raw, multipart }: AnyRoute, contentType: string, limit: number): Inspect | undefined {
  if (raw || (multipart && isForm(contentType))) return undefined
  const bounds = new JsonBounds({ large: LARGE_FIELD, limit })
  return (piece) => {
    requireJson(contentType)
    bounds.push(piece)
  }
}

export interface BodyReading {
  ceiling: number
  /** Bytes that the request says it has: room for them is made once, and filled as they come. */
  declared: number | undefined
  inspect: Inspect | undefined
}

/** Reads at most `ceiling` bytes; throws bad_request beyond, or where `inspect` does, without reading on. */
export async function readRequestBody(
  request: Request,
  { ceiling, declared = 0, inspect }: BodyReading,
): Promise<RequestBody> {
  const contentType = request.headers.get('content-type') ?? ''
  let raw = new Uint8Array(declared)
  let size = 0
  if (request.body) {
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      if (size + piece.byteLength > ceiling) throw tooLarge(ceiling)
      inspect?.(piece)
      if (size + piece.byteLength > raw.byteLength) raw = grown(raw, size + piece.byteLength, ceiling)
      raw.set(piece, size)
      size += piece.byteLength
    }
  }
  // Whole, so that it can be handed to a worker as it is.
  if (size < raw.byteLength) raw = raw.slice(0, size)
  return { raw, multipart: isForm(contentType), contentType }
}

/** A copy with room for `needed` bytes, and for as many again, so that a body without a length is copied a few times only. */
function grown(bytes: Uint8Array<ArrayBuffer>, needed: number, ceiling: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(2 * needed, ceiling))
  larger.set(bytes)
  return larger
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** A copy is all that ASCII takes, as images in base64 are; anything else is decoded. */
const bodyText = (raw: Uint8Array<ArrayBuffer>): string =>
  isAscii(raw) ? Buffer.from(raw.buffer).toString('latin1') : decoder.decode(raw)

/** The JSON object in the body, whose bounds were told while it was read; an empty body is an empty object. */
export function parseJsonObject({ raw, contentType }: RequestBody): Record<string, unknown> {
  if (raw.byteLength === 0) return {}
  requireJson(contentType)
  let value: unknown
  try {
    value = JSON.parse(bodyText(raw))
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('The body must be a JSON object')
  return value as Record<string, unknown>
}

/** Throws bad_request unless the content type is JSON. */
export function requireJson(contentType: string): void {
  if (!/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(contentType)) {
    throw badRequest(`Content-Type must be application/json, not ${JSON.stringify(contentType)}`, {
      param: 'Content-Type',
    })
  }
}

/** SHA-256 over method, path and body; a form is hashed by its parts, so that another boundary is the same request. */
export async function hashRequest(method: string, pathAndQuery: string, body: RequestBody): Promise<string> {
  const hash = createHash('sha256').update(`${method} ${pathAndQuery}\n`)
  if (!body.multipart) return hash.update(body.raw).digest('hex')
  for (const [name, value] of await readForm(body)) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(await value.arrayBuffer())
    hash
      .update(`${JSON.stringify(name)} ${typeof value === 'string' ? 'text' : 'file'} ${bytes.byteLength}\n`)
      .update(bytes)
  }
  return hash.digest('hex')
}
