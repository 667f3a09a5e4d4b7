/** The canonical form of a JSON text: no white space, fields sorted by name, numbers as written. */
import { isAscii, isUtf8 } from 'node:buffer'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  JsonFault,
  JsonScanner,
  MAX_JSON_DEPTH,
  OPEN_BRACE,
  OPEN_BRACKET,
} from '../../src/platform/json-scanner.ts'

/** Tokens between two pauses; they take some milliseconds. */
const TOKENS_PER_STEP = 20_000

/** A list, or the fields of an object by name; the last of several fields with one name counts, as in JSON.parse. */
interface Open {
  fields: Map<string, string> | null
  values: string[]
  name: string | null
}

/**
 * Returns the canonical form, or undefined if the bytes are not JSON or too deep; pauses now and then. It does not check
 * the order of the tokens, because the text is parsed later.
 */
export function* canonicalJson(bytes: Uint8Array): Generator<void, string | undefined> {
  if (!isUtf8(bytes)) return undefined
  try {
    return yield* formsIn(new JsonScanner(bytes))
  } catch (error) {
    if (error instanceof JsonFault) return undefined
    throw error
  }
}

function* formsIn(scanner: JsonScanner): Generator<void, string | undefined> {
  const open: Open[] = []
  let whole: string | undefined
  let isName = false
  const add = (value: string) => {
    const into = open.at(-1)
    if (into === undefined) whole = value
    else if (into.fields === null) into.values.push(value)
    else if (isName) into.name = value
    else if (into.name !== null) into.fields.set(into.name, value)
  }
  const { bytes } = scanner
  // Bytes and characters of ASCII have the same positions, and a piece of a string is no copy.
  const text = isAscii(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1') : null
  for (let n = 1; ; n++) {
    const byte = scanner.peek()
    const start = scanner.position
    if (byte === undefined) return open.length === 0 ? whole : undefined
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (open.length === MAX_JSON_DEPTH) return undefined
      isName = byte === OPEN_BRACE
      open.push({ fields: isName ? new Map() : null, values: [], name: null })
      scanner.position++
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      const done = open.pop()
      if (done === undefined) return undefined
      isName = false
      add(formOf(done))
      scanner.position++
    } else if (byte === COLON || byte === COMMA) {
      isName = byte === COMMA && open.at(-1)?.fields != null
      scanner.position++
    } else {
      const isEscaped = scanner.skipScalar(byte)
      const token = text?.slice(start, scanner.position) ?? scanner.text(start, scanner.position)
      add(isEscaped ? JSON.stringify(JSON.parse(token)) : token)
    }
    if (n % TOKENS_PER_STEP === 0) yield
  }
}

function formOf({ fields, values }: Open): string {
  if (fields === null) return `[${values.join()}]`
  const names = [...fields.keys()].sort()
  return `{${names.map((name) => `${name}:${fields.get(name)}`).join()}}`
}
