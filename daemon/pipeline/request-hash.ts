/** The hash that an Idempotency-Key is bound to. */
import { createHash, hash as oneShot } from 'node:crypto'
import { type Soon, whenThere } from '../../src/soon.ts'
import { bodyText, type RequestBody } from './body.ts'
import { KIB } from './body-room.ts'
import { canonicalJson } from './canonical-json.ts'
import { readForm } from './form.ts'

export interface RequestHashes {
  requestHash: string
  /** The hash over the bytes of the body, by which an earlier version stored the same request. */
  earlierHash: string
}

const SMALL_BYTES = 16 * KIB

/**
 * SHA-256 of method, path, query and body. Two texts of the same JSON have the same hash, and so have forms with the same
 * parts; amounts compare as they were written.
 */
export function hashRequest(method: string, pathAndQuery: string, body: RequestBody): Soon<RequestHashes> {
  const target = `${method} ${pathAndQuery}\n`
  if (body.multipart)
    return whenThere(hashForm(target, body), (requestHash) => ({ requestHash, earlierHash: requestHash }))
  const earlierHash = hashBytes(target, body.raw)
  return whenThere(canonicalText(body.raw), (text) => ({
    requestHash: text === undefined ? earlierHash : hashBytes(target, Buffer.from(text)),
    earlierHash,
  }))
}

/** At once for a small body; otherwise other requests have their turns meanwhile. Undefined for what is not JSON. */
function canonicalText(raw: Uint8Array<ArrayBuffer>): Soon<string | undefined> {
  const text = textOrUndefined(raw)
  if (text === undefined) return undefined
  const steps = canonicalJson(text)
  const step = steps.next()
  return step.done ? step.value : restOf(steps)
}

async function restOf(steps: ReturnType<typeof canonicalJson>): Promise<string | undefined> {
  for (;;) {
    await new Promise((settle) => setImmediate(settle))
    const step = steps.next()
    if (step.done) return step.value
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
  // A small body is hashed in one call, which costs a third of three.
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
