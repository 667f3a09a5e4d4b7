/** The hash of a request that an Idempotency-Key is bound to. */
import { createHash, hash as oneShot } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bodyText, type RequestBody } from './body.ts'
import { KIB } from './body-room.ts'
import { canonicalJson } from './canonical-json.ts'
import { readForm } from './form.ts'

const SMALL_BYTES = 16 * KIB

/**
 * SHA-256 of method, path, query and body. Two texts of the same JSON have the same hash, and so do forms with the
 * same parts; amounts compare as written.
 */
export async function hashRequest(method: string, pathAndQuery: string, body: RequestBody): Promise<string> {
  const target = `${method} ${pathAndQuery}\n`
  if (body.multipart) return hashForm(target, body)
  const text = await canonicalText(body.raw)
  return hashBytes(target, text === undefined ? body.raw : Buffer.from(text))
}

/** Other requests run between the steps over a large body. Undefined if the body is not JSON. */
async function canonicalText(raw: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const text = textOrUndefined(raw)
  if (text === undefined) return undefined
  const steps = canonicalJson(text)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await nextTurn()
  }
}

function textOrUndefined(raw: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return bodyText(raw)
  } catch {
    return undefined
  }
}

function hashBytes(target: string, bytes: Uint8Array): string {
  // A small body is hashed with one call, which costs a third of three calls.
  if (bytes.byteLength <= SMALL_BYTES) return oneShot('sha256', Buffer.concat([Buffer.from(target), bytes]), 'hex')
  return createHash('sha256').update(target).update(bytes).digest('hex')
}

async function hashForm(target: string, body: RequestBody): Promise<string> {
  const hash = createHash('sha256').update(target)
  for (const [name, value] of await readForm(body)) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.from(await value.arrayBuffer())
    hash
      .update(`${JSON.stringify(name)} ${typeof value === 'string' ? 'text' : 'file'} ${bytes.byteLength}\n`)
      .update(bytes)
  }
  return hash.digest('hex')
}
