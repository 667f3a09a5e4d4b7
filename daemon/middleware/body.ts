/** Request bodies: bounded reading, JSON and multipart, and the hash that an Idempotency-Key is bound to. */
import { createHash } from 'node:crypto'
import { badRequest } from '../../src/errors.ts'

export interface Body {
  raw: Uint8Array<ArrayBuffer>
  multipart: boolean
  contentType: string
}

/** Reads at most `limitMib` MiB; throws bad_request beyond, without reading on. */
export async function readBody(request: Request, limitMib: number): Promise<Body> {
  const limit = limitMib * 1024 * 1024
  const tooLarge = () =>
    badRequest(`The request body is larger than ${limitMib} MiB`, { details: { limit_bytes: limit } })
  const contentType = request.headers.get('content-type') ?? ''
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  if (request.body) {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength
      if (size > limit) throw tooLarge()
      chunks.push(chunk)
    }
  }
  const raw = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    raw.set(chunk, offset)
    offset += chunk.byteLength
  }
  return { raw, multipart: /^multipart\/form-data\b/i.test(contentType), contentType }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The JSON object in the body; an empty body is an empty object. */
export function parseJsonObject({ raw, contentType }: Body): Record<string, unknown> {
  if (raw.byteLength === 0) return {}
  requireJson(contentType)
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(raw))
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

/** The fields of a multipart form; files become base64. */
export async function parseForm(body: Body): Promise<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of await readForm(body)) {
    if (Object.hasOwn(fields, name)) throw badRequest(`The form field ${name} is sent twice`, { param: name })
    fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('base64')
  }
  return fields
}

async function readForm({ raw, contentType }: Body): Promise<FormData> {
  try {
    return await new Response(raw, { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw badRequest('The body is not valid multipart/form-data', { param: 'Content-Type' })
  }
}

/** SHA-256 over method, path and body; a form is hashed by its parts, so that another boundary is the same request. */
export async function hashRequest(method: string, pathAndQuery: string, body: Body): Promise<string> {
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
