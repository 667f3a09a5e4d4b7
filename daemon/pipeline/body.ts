/** Request bodies: bounded reading, JSON and multipart. */

import { isAscii } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { AnyRoute } from '../../src/api/route.ts'
import { type ApiError, badRequest } from '../../src/platform/errors.ts'
import type { Config } from '../../src/settings/config.ts'
import { KIB, MIB } from './body-room.ts'
import { JsonBounds, LARGE_FIELD } from './json-bounds.ts'

export interface RequestBody {
  raw: Uint8Array<ArrayBuffer>
  multipart: boolean
  contentType: string
  /** The parsed form; undefined until `readForm` is first called. */
  form?: Promise<FormData>
}

/** The limit in bytes for a body without its large field: a tree's entries or a pool's image. */
export const jsonCeiling = ({ values }: Pick<Config, 'values'>): number => values['json-limit-kib'] * KIB

/** The limit in bytes for a whole body of this route. */
export function bodyCeiling({ large }: AnyRoute, config: Pick<Config, 'values'>): number {
  return large ? config.values['body-limit-mib'] * MIB : jsonCeiling(config)
}

const byteUnits = (bytes: number) => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`)

function tooLarge(ceiling: number): ApiError {
  return badRequest(`The request body is larger than ${byteUnits(ceiling)}`, { details: { limit_bytes: ceiling } })
}

/**
 * The length in the header Content-Length, undefined without the header; throws bad_request if it exceeds the ceiling.
 */
export function declaredLength(header: string | null, ceiling: number): number | undefined {
  if (header === null || !/^\d+$/.test(header)) return undefined
  const length = Number(header)
  if (length > ceiling) throw tooLarge(ceiling)
  return length
}

/** Receives each piece of a body as it arrives; throws if the rest need not be read. */
type Inspect = (piece: Uint8Array) => void

const isForm = (contentType: string) => /^multipart\/form-data\b/i.test(contentType)

/**
 * The check of JSON's limits, which runs while a body arrives. Undefined for a form, and for a route that reads the
 * bytes itself.
 */
export function inspectorOf({ raw, multipart }: AnyRoute, contentType: string, limit: number): Inspect | undefined {
  if (raw || (multipart && isForm(contentType))) return undefined
  const bounds = new JsonBounds({ large: LARGE_FIELD, limit })
  return (piece) => {
    requireJson(contentType)
    bounds.push(piece)
  }
}

/** The source of a body: the message of Node's parser if there is one, otherwise the stream of a Request. */
export type BodySource = IncomingMessage | Request

/**
 * Passes each piece of a message to `take`, and resolves with the result of `whole` after the last one. If either
 * throws, the remaining pieces are read and dropped, because a paused body would block the connection.
 */
async function takeMessage<T>(
  incoming: IncomingMessage,
  take: (piece: Uint8Array) => void,
  whole: () => T,
): Promise<T> {
  if (incoming.destroyed) throw cutOff()
  if (incoming.complete && incoming.readableFlowing === null) {
    // A small body comes together with its head, and needs no listeners.
    const all: Uint8Array | null = incoming.read()
    if (all !== null) take(all)
    return whole()
  }
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose)
      act()
    }
    const onData = (piece: Uint8Array) => {
      try {
        take(piece)
      } catch (error) {
        settle(() => reject(error))
      }
    }
    const onEnd = () => settle(() => resolve(whole()))
    const onClose = () => settle(() => reject(cutOff()))
    incoming.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose)
  })
}

/** The client caused this and cannot receive the answer, so it is not an error of the daemon. */
const cutOff = () => badRequest('The connection was closed before the whole body had arrived')

interface BodyReading {
  contentType: string
  ceiling: number
  /** Declared length; a buffer of this size is allocated once and filled as the pieces arrive. */
  declared: number | undefined
  inspect: Inspect | undefined
}

/**
 * Reads at most `ceiling` bytes. Stops reading and throws bad_request if the body is larger, or if `inspect` throws.
 */
export function readRequestBody(
  source: BodySource,
  { contentType, ceiling, declared = 0, inspect }: BodyReading,
): Promise<RequestBody> {
  let raw = new Uint8Array(declared)
  let size = 0
  const take = (piece: Uint8Array) => {
    if (size + piece.byteLength > ceiling) throw tooLarge(ceiling)
    inspect?.(piece)
    if (size + piece.byteLength > raw.byteLength) raw = grown(raw, size + piece.byteLength, ceiling)
    raw.set(piece, size)
    size += piece.byteLength
  }
  // The array owns its whole buffer, so that the buffer can be transferred to a worker thread.
  const whole = () => ({
    raw: size < raw.byteLength ? raw.slice(0, size) : raw,
    multipart: isForm(contentType),
    contentType,
  })
  // `instanceof` would load Node's HTTP or fetch into a command that needs neither.
  return 'httpVersion' in source ? takeMessage(source, take, whole) : takeStream(source, take, whole)
}

async function takeStream<T>({ body }: Request, take: (piece: Uint8Array) => void, whole: () => T): Promise<T> {
  if (body) for await (const piece of body as unknown as AsyncIterable<Uint8Array>) take(piece)
  return whole()
}

/**
 * Copies `bytes` into an array of twice the needed size, so a body of undeclared length is copied only a few times.
 */
function grown(bytes: Uint8Array<ArrayBuffer>, needed: number, ceiling: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(2 * needed, ceiling))
  larger.set(bytes)
  return larger
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** ASCII, for example an image in base64, only needs a copy; other text is decoded as UTF-8. */
const bodyText = (raw: Uint8Array<ArrayBuffer>): string =>
  isAscii(raw) ? Buffer.from(raw.buffer).toString('latin1') : decoder.decode(raw)

/** The JSON object in the body, whose limits were checked while it was read; an empty body is an empty object. */
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
