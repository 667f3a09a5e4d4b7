/** The hash of a request that an Idempotency-Key is bound to. */
import { createHash, hash as oneShot } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { bodyText, type RequestBody } from './body.ts'
import { canonicalJson } from './canonical-json.ts'
import { readForm } from './form.ts'

/**
 * SHA-256 of method, path, query and body. Two texts of the same JSON have the same hash, and so do forms with the
 * same parts; amounts compare as written.
 */
export async function hashRequest(method: string, pathAndQuery: string, body: RequestBody): Promise<string> {
  const target = `${method} ${pathAndQuery}\n`
  if (body.multipart) return hashForm(target, body)
  const text = textOrUndefined(body.raw)
  const steps = canonicalJson(text ?? '')
  let step = steps.next()
  for (; !step.done; step = steps.next()) {
    // Other requests run between the steps over a large body.
    await nextTurn()
  }
  if (step.value !== undefined) return oneShot('sha256', target + step.value, 'hex')
  return createHash('sha256').update(target).update(body.raw).digest('hex')
}

function textOrUndefined(raw: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return bodyText(raw)
  } catch {
    return undefined
  }
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
