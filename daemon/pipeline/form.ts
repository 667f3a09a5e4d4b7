/** Multipart forms: their parts are counted and measured before the form is parsed, and the form is parsed once. */
import { badRequest } from '../../src/platform/errors.ts'
import type { RequestBody } from './body.ts'
import { JsonBounds, LARGE_FIELD, tooLargeBeside } from './json-bounds.ts'

/** The most parts that a form may have. The form with the most fields, that of a pool, has fifteen. */
const MOST_PARTS = 32
/** The limit in bytes for the headers of one part. */
const LONGEST_HEAD = 4 * 1024

/** Returns the fields of a multipart form, files as base64. `textLimit` bounds all but the image, in bytes. */
export async function parseForm(body: RequestBody, textLimit: number): Promise<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null)
  requireBoundedParts(body, textLimit)
  let room = textLimit
  for (const [name, value] of await readForm(body)) {
    if (Object.hasOwn(fields, name))
      throw badRequest(`The form field ${shortName(name)} is sent twice`, { param: shortName(name) })
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(await value.arrayBuffer())
    if (name !== LARGE_FIELD) {
      room -= name.length + bytes.byteLength
      if (room < 0) throw tooLargeBeside(LARGE_FIELD, textLimit, shortName(name))
      // Some fields are parsed as JSON later, so their text has the same bounds as a JSON body.
      if (/^\s*[{[]/.test(value as string)) new JsonBounds({ param: shortName(name) }).push(bytes)
    }
    fields[name] = typeof value === 'string' ? value : bytes.toString('base64')
  }
  return fields
}

const shortName = (name: string) => (name.length > 64 ? `${name.slice(0, 64)}…` : name)

/** Parses the form once per body, because both the fields and the hash of the request are read from it. */
export async function readForm(body: RequestBody): Promise<FormData> {
  const { raw, contentType } = body
  body.form ??= new Response(raw, { headers: { 'content-type': contentType } }).formData().catch(() => {
    throw badRequest('The body is not valid multipart/form-data', { param: 'Content-Type' })
  })
  return body.form
}

/**
 * Checks number, headers and sizes of the parts by searching for the delimiter, because parsing takes a hundred times
 * as long.
 */
function requireBoundedParts({ raw, contentType }: RequestBody, textLimit: number): void {
  const delimiter = delimiterOf(contentType)
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  let room = textLimit
  let start = bytes.indexOf(delimiter)
  for (let parts = 0; start !== -1; parts++) {
    if (parts > MOST_PARTS) {
      throw badRequest(`The form has more than ${MOST_PARTS} parts: send each documented field once`, {
        details: { limit_parts: MOST_PARTS },
      })
    }
    start += delimiter.length
    const next = bytes.indexOf(delimiter, start)
    const part = bytes.subarray(start, next === -1 ? bytes.length : next)
    const name = partName(part)
    if (name !== LARGE_FIELD) room -= part.length
    if (room < 0) throw tooLargeBeside(LARGE_FIELD, textLimit, shortName(name))
    start = next
  }
}

/** The name of a part, empty if it has none; throws bad_request if its headers are too long. */
function partName(part: Buffer): string {
  const head = part.subarray(0, LONGEST_HEAD)
  const end = head.indexOf('\r\n\r\n')
  if (end === -1 && part.length > LONGEST_HEAD) {
    throw badRequest(`The head of a part of the form is longer than ${LONGEST_HEAD / 1024} KiB: send shorter names`, {
      details: { limit_bytes: LONGEST_HEAD },
    })
  }
  return /\bname="([^"]*)"/i.exec(head.toString('latin1', 0, Math.max(end, 0)))?.[1] ?? ''
}

function delimiterOf(contentType: string): string {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  const text = boundary?.[1] ?? boundary?.[2]
  if (text !== undefined) return `--${text}`
  throw badRequest('Content-Type must name the boundary of the form, of 1 to 70 characters', { param: 'Content-Type' })
}
