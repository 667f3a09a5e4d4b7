/** Multipart forms: parts are counted and measured before they are parsed, and parsed once. */
import { badRequest } from '../../src/errors.ts'
import type { Body } from './body.ts'
import { requireBounded, tooLargeBeside } from './json-bounds.ts'

/** The form with the most fields, that of a pool, has fifteen. */
const MOST_PARTS = 32
/** The one field of a body that may be large: a file of a form, base64 in JSON. */
export const LARGE_FIELD = 'image'

/** The fields of a multipart form; files become base64. `textLimit` bounds all but the image, in bytes. */
export async function parseForm(body: Body, textLimit: number): Promise<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null)
  let room = textLimit
  for (const [name, value] of await readForm(body)) {
    if (Object.hasOwn(fields, name))
      throw badRequest(`The form field ${shown(name)} is sent twice`, { param: shown(name) })
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(await value.arrayBuffer())
    if (name !== LARGE_FIELD) {
      room -= name.length + bytes.byteLength
      if (room < 0) throw tooLargeBeside(LARGE_FIELD, textLimit, shown(name))
      // Text that a field turns into JSON.
      if (/^\s*[{[]/.test(value as string)) requireBounded(bytes, { param: shown(name) })
    }
    fields[name] = typeof value === 'string' ? value : bytes.toString('base64')
  }
  return fields
}

const shown = (name: string) => (name.length > 64 ? `${name.slice(0, 64)}…` : name)

/** Parsed once: the fields and the hash of a retry are told from the same parts. */
export async function readForm(body: Body): Promise<FormData> {
  requireFewParts(body)
  const { raw, contentType } = body
  body.form ??= new Response(raw, { headers: { 'content-type': contentType } }).formData().catch(() => {
    throw badRequest('The body is not valid multipart/form-data', { param: 'Content-Type' })
  })
  return body.form
}

function requireFewParts({ raw, contentType }: Body): void {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  const text = boundary?.[1] ?? boundary?.[2]
  if (text === undefined) {
    throw badRequest('Content-Type must name the boundary of the form, of 1 to 70 characters', {
      param: 'Content-Type',
    })
  }
  const delimiter = Buffer.from(`--${text}`)
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  let parts = -1
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    if (++parts > MOST_PARTS) {
      throw badRequest(`The form has more than ${MOST_PARTS} parts: send each documented field once`, {
        details: { limit_parts: MOST_PARTS },
      })
    }
  }
}
