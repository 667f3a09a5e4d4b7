/** JSON with exact integers: lamports beyond 2^53 are parsed and serialized as bigint. */

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const LONG_INTEGER = /^-?\d{16,}$/
const MARK = '$integer'

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(MARK in value)) return value
  const digits = (value as Record<string, unknown>)[MARK]
  return typeof digits === 'string' && LONG_INTEGER.test(digits) ? BigInt(digits) : value
}

/** Parses JSON; integers of 16 digits or more become bigint. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  // JSON.parse runs first for every text, because the pattern would take quadratic time on text that is not JSON.
  const plain: unknown = JSON.parse(text)
  if (!/\d{16}/.test(text)) return plain
  const marked = text.replace(TOKEN, (token) => (LONG_INTEGER.test(token) ? `{"${MARK}":"${token}"}` : token))
  return JSON.parse(marked, revive)
}

/** Serializes like JSON.stringify, with bigint as a JSON integer. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`
  let text = ''
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    text += `${text ? ',' : ''}${JSON.stringify(key)}:${toJson(member)}`
  }
  return `{${text}}`
}
