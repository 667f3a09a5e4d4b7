/**
 * Orders the values of answers as people expect: numbers exactly, whatever their length, times by moment, then text.
 */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/
/** Digits after the point that count when decimals are compared. */
const PLACES = 20

/** The sort key of a value: kinds are in order, then values of one kind; an absent value has no key. */
export type OrderKey =
  | { kind: 'number'; whole: bigint }
  | { kind: 'time'; at: number }
  | { kind: 'text'; text: string }
  | null

const KINDS = ['number', 'time', 'text'] as const

/** The key of a value. A list or an object is the text of its JSON; null, undefined and the empty text have no key. */
export function orderKey(value: unknown): OrderKey {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'number' || typeof value === 'bigint') return textKey(decimalText(value))
  return typeof value === 'string' ? textKey(value) : { kind: 'text', text: JSON.stringify(value) ?? '' }
}

function textKey(text: string): OrderKey {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole !== undefined) {
    const scaled = BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, '0'))
    return { kind: 'number', whole: sign === '-' ? -scaled : scaled }
  }
  const at = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? { kind: 'text', text } : { kind: 'time', at }
}

/** JavaScript writes very large and very small numbers with an exponent; amounts have none. */
function decimalText(number: number | bigint): string {
  if (typeof number === 'bigint' || Number.isInteger(number)) return String(BigInt(number))
  return Number.isFinite(number) ? number.toFixed(PLACES) : ''
}

/** Negative, zero or positive, as for `sort`. Absent values come last. */
export function compareKeys(one: OrderKey, other: OrderKey): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  if (one.kind === 'number' && other.kind === 'number') return sign(one.whole, other.whole)
  if (one.kind === 'time' && other.kind === 'time') return sign(one.at, other.at)
  if (one.kind === 'text' && other.kind === 'text') {
    return sign(one.text.toLowerCase(), other.text.toLowerCase()) || sign(one.text, other.text)
  }
  return KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind)
}

const sign = <T extends string | number | bigint>(one: T, other: T) => (one < other ? -1 : one > other ? 1 : 0)
