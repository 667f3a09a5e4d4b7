/** The canonical form of a JSON text: no white space, fields sorted by name, numbers as written. */
import { MAX_JSON_DEPTH } from './json-bounds.ts'

/** Tokens between two pauses; they take some milliseconds. */
const TOKENS_PER_STEP = 20_000

/** A list, or the fields of an object by name; the last of several fields with one name counts, as in JSON.parse. */
interface Open {
  fields: Map<string, string> | null
  values: string[]
  name: string | null
}

/**
 * Returns the canonical form, or undefined if the text is not JSON or too deep; pauses now and then. It does not check
 * the order of the tokens, because the text is parsed later.
 */
export function* canonicalJson(text: string): Generator<void, string | undefined> {
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
  let at = afterSpace(text, 0)
  for (let n = 1; at < text.length; n++) {
    const end = tokenEnd(text, at)
    if (end <= at) return undefined
    const token = text.slice(at, end)
    if (token === '{' || token === '[') {
      if (open.length === MAX_JSON_DEPTH) return undefined
      open.push({ fields: token === '{' ? new Map() : null, values: [], name: null })
      isName = token === '{'
    } else if (token === '}' || token === ']') {
      const done = open.pop()
      if (done === undefined) return undefined
      isName = false
      add(formOf(done))
    } else if (token === ':') isName = false
    else if (token === ',') isName = open.at(-1)?.fields != null
    else add(token.includes('\\') ? plainString(token) : token)
    at = afterSpace(text, end)
    if (n % TOKENS_PER_STEP === 0) yield
  }
  return open.length === 0 ? whole : undefined
}

function afterSpace(text: string, from: number): number {
  let at = from
  while (' \n\r\t'.includes(text.charAt(at)) && at < text.length) at++
  return at
}

const SCALAR = /[-+.0-9A-Za-z]+/y

/** The end of the token that starts at `at`; 0 if there is no token. */
function tokenEnd(text: string, at: number): number {
  const first = text.charAt(at)
  if ('{}[],:'.includes(first)) return at + 1
  if (first === '"') return stringEnd(text, at)
  SCALAR.lastIndex = at
  return SCALAR.test(text) ? SCALAR.lastIndex : 0
}

function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text.charAt(before - 1) === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return 0
}

function formOf({ fields, values }: Open): string {
  if (fields === null) return `[${values.join()}]`
  const names = [...fields.keys()].sort()
  return `{${names.map((name) => `${name}:${fields.get(name)}`).join()}}`
}

/** The same string in a uniform escaping. */
function plainString(token: string): string {
  try {
    return JSON.stringify(JSON.parse(token))
  } catch {
    return token
  }
}
