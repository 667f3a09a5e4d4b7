/**
 * Compares every operation with its shape at the last release: `docs/openapi.lock.json` has a hash of each.
 * Without arguments it adds new operations; `--check` only compares; `--accept ID…` accepts changed or missing ones.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/api/openapi.ts'

const FILE = 'docs/openapi.lock.json'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Lock = Record<string, string>

/** Texts for people, on which no program depends. */
const TEXTS = ['description', 'summary', 'example', 'examples', 'tags', 'x-codeSamples']
/** Lists whose order has no meaning. */
const SETS = ['required', 'enum', 'type']
/** Objects whose keys are names, which may be words such as `description`. */
const NAMED = ['properties', 'headers', 'responses', 'content', 'paths']

/** A part of the document without its texts, with references resolved and keys sorted. */
function shapeOf(part: Json, document: Json, key = '', above: readonly string[] = []): Json {
  if (Array.isArray(part)) {
    const items = part.map((item) => shapeOf(item, document, '', above))
    if (SETS.includes(key)) return items.sort()
    return key === 'parameters' ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
  }
  if (typeof part !== 'object' || part === null) return part
  const { $ref } = part
  if (typeof $ref === 'string') {
    // A schema that contains itself is named there, which ends the recursion.
    if (above.includes($ref)) return { $ref }
    const target = $ref
      .slice(2)
      .split('/')
      .reduce<Json>((at, name) => (at as Record<string, Json>)[name] ?? null, document)
    return shapeOf(target, document, key, [...above, $ref])
  }
  const kept = Object.entries(part).filter(([name]) => NAMED.includes(key) || !TEXTS.includes(name))
  return Object.fromEntries(
    kept
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, shapeOf(value, document, NAMED.includes(key) ? '' : name, above)]),
  )
}

interface Operation {
  operationId: string
}

/** The hash of each operation and each webhook of an OpenAPI document, by its id. */
export function operationHashes(document: object): Lock {
  const { paths, webhooks } = document as Record<'paths' | 'webhooks', Record<string, Record<string, Operation>>>
  const hashes: Lock = {}
  for (const [path, methods] of [...Object.entries(paths), ...Object.entries(webhooks)])
    for (const [method, operation] of Object.entries(methods)) {
      const shape = JSON.stringify([method, path, shapeOf(operation as unknown as Json, document as Json)])
      hashes[operation.operationId] = createHash('sha256').update(shape).digest('hex').slice(0, 16)
    }
  return hashes
}

/** A line for each locked operation that changed or is missing, with what to do. */
export function brokenOperations(locked: Lock, now: Lock): string[] {
  return Object.entries(locked).flatMap(([id, hash]) => {
    if (now[id] === hash) return []
    const what = now[id] === undefined ? 'is gone' : 'has another input or answer than before'
    return [`${id} ${what}. Once its callers are safe or know what to change: npm run docs -- --accept ${id}`]
  })
}

function main(words: readonly string[]): void {
  const locked = JSON.parse(readFileSync(FILE, 'utf8')) as Lock
  const now = operationHashes(openApiDocument())
  const accepted = words.includes('--accept') ? words.slice(words.indexOf('--accept') + 1) : []
  const held = Object.fromEntries(Object.entries(locked).filter(([id]) => !accepted.includes(id)))
  const next = Object.fromEntries(Object.entries({ ...now, ...held }).sort(([a], [b]) => (a < b ? -1 : 1)))
  const text = `${JSON.stringify(next, null, 2)}\n`
  const faults = brokenOperations(held, now)
  if (!words.includes('--check')) writeFileSync(FILE, text)
  else if (readFileSync(FILE, 'utf8') !== text) faults.push('it lacks new operations: npm run docs')
  for (const fault of faults) process.stderr.write(`${FILE}: ${fault}\n`)
  if (faults.length > 0) process.exitCode = 1
}

if (import.meta.filename === process.argv[1]) main(process.argv.slice(2))
