/** Table-driven base58 for 32-byte keys; it decodes directly from bytes into a position of a larger buffer. */
import { INCINERATOR } from '../solana/program-ids.ts'
import { unseenCharacter } from './file-faults.ts'

const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const ONE = 49

const DIGIT_VALUES = new Int8Array(256).fill(-1)
for (let i = 0; i < 58; i++) DIGIT_VALUES[BASE58_ALPHABET.charCodeAt(i)] = i

// A key has at most 45 base58 digits, that is nine groups of five. Row g holds 58^(5·(8-g)) as sixteen 16-bit limbs. A
// limb then takes nine multiply-adds, and every sum is below 2^49 and therefore exact in a double.
const GROUP = 58 ** 5
const WEIGHTS = new Float64Array(9 * 16)
for (let g = 8, weight = 1n; g >= 0; g--, weight *= BigInt(GROUP)) {
  for (let k = 0; k < 16; k++) WEIGHTS[g * 16 + k] = Number((weight >> BigInt(16 * (15 - k))) & 0xffffn)
}
const groups = new Float64Array(9)

/**
 * Decodes base58 text (ASCII in `source[start, end)`) into 32 bytes at `out[at]`. Returns false when the text is not
 * the canonical base58 of exactly 32 bytes; the content of `out` is then undefined.
 */
export function decodeKey(source: Uint8Array, start: number, end: number, out: Uint8Array, at: number): boolean {
  const length = end - start
  if (length < 32 || length > 44) return false
  let position = start
  let bad = 0
  const first = ((45 - length) / 5) | 0
  for (let g = 0; g < first; g++) groups[g] = 0
  let group = 0
  for (let k = 45 - length - first * 5; k < 5; k++) {
    const digit = DIGIT_VALUES[source[position++] ?? 0] ?? -1
    bad |= digit
    group = group * 58 + digit
  }
  groups[first] = group
  for (let g = first + 1; g < 9; g++) {
    const a = DIGIT_VALUES[source[position] ?? 0] ?? -1
    const b = DIGIT_VALUES[source[position + 1] ?? 0] ?? -1
    const c = DIGIT_VALUES[source[position + 2] ?? 0] ?? -1
    const d = DIGIT_VALUES[source[position + 3] ?? 0] ?? -1
    const e = DIGIT_VALUES[source[position + 4] ?? 0] ?? -1
    bad |= a | b | c | d | e
    groups[g] = (((a * 58 + b) * 58 + c) * 58 + d) * 58 + e
    position += 5
  }
  if (bad < 0) return false
  // The loop over groups is unrolled, because with local variables it runs about twice as fast as a nested loop.
  const [g0, g1, g2, g3, g4] = [groups[0] ?? 0, groups[1] ?? 0, groups[2] ?? 0, groups[3] ?? 0, groups[4] ?? 0]
  const [g5, g6, g7, g8] = [groups[5] ?? 0, groups[6] ?? 0, groups[7] ?? 0, groups[8] ?? 0]
  const w = WEIGHTS
  let carry = 0
  for (let k = 15; k >= 0; k--) {
    const high =
      g0 * (w[k] ?? 0) + g1 * (w[k + 16] ?? 0) + g2 * (w[k + 32] ?? 0) + g3 * (w[k + 48] ?? 0) + g4 * (w[k + 64] ?? 0)
    const sum =
      carry + high + g5 * (w[k + 80] ?? 0) + g6 * (w[k + 96] ?? 0) + g7 * (w[k + 112] ?? 0) + g8 * (w[k + 128] ?? 0)
    carry = Math.floor(sum / 65536)
    const limb = sum - carry * 65536
    out[at + 2 * k] = limb >>> 8
    out[at + 2 * k + 1] = limb
  }
  if (carry !== 0) return false
  // Each leading '1' encodes one zero byte. With any other count, the text is not canonical or encodes a shorter key.
  let zeros = 0
  while (zeros < 32 && out[at + zeros] === 0) zeros++
  let ones = 0
  while (ones < length && source[start + ones] === ONE) ones++
  return zeros === ones
}

/** Decodes a base58 key; undefined when `text` is not the canonical base58 of 32 bytes. */
export function keyFromBase58(text: string): Uint8Array | undefined {
  if (text.length < 32 || text.length > 44) return undefined
  const source = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) return undefined
    source[i] = code
  }
  const key = new Uint8Array(32)
  return decodeKey(source, 0, source.length, key, 0) ? key : undefined
}

/** Returns the base58 text of the 32 bytes at `key[at]`. Throws RangeError when there are fewer bytes. */
export function keyToBase58(key: Uint8Array, at = 0): string {
  if (at + 32 > key.length) throw new RangeError(`no key at byte ${at} of ${key.length}`)
  const limbs = new Float64Array(16)
  for (let k = 0; k < 16; k++) limbs[k] = (key[at + 2 * k] ?? 0) * 256 + (key[at + 2 * k + 1] ?? 0)
  let text = ''
  for (let g = 8, top = 0; g >= 0; g--) {
    let remainder = 0
    for (let k = top; k < 16; k++) {
      const value = remainder * 65536 + (limbs[k] ?? 0)
      const quotient = Math.floor(value / GROUP)
      limbs[k] = quotient
      remainder = value - quotient * GROUP
    }
    while (top < 16 && limbs[top] === 0) top++
    for (let i = 0; i < 5; i++) {
      text = BASE58_ALPHABET[remainder % 58] + text
      remainder = Math.floor(remainder / 58)
    }
  }
  let zeros = 0
  while (zeros < 32 && key[at + zeros] === 0) zeros++
  let ones = 0
  while (ones < text.length && text.charCodeAt(ones) === ONE) ones++
  return '1'.repeat(zeros) + text.slice(ones)
}

/** Shortest text without a capital letter that counts as a wallet that was put in lower case. */
const CAPITAL_FROM = 40

/**
 * Whether a wallet (base58 in `source[start, end)`) seems to have been put in lower case, which makes it another or an
 * invalid one.
 */
export function isLowerCased(source: Uint8Array, start: number, end: number): boolean {
  if (end - start < CAPITAL_FROM) return false
  for (let i = start; i < end; i++) {
    const byte = source[i] ?? 0
    if (byte >= 65 && byte <= 90) return false
  }
  return Buffer.from(source.subarray(start, end)).toString('latin1') !== INCINERATOR
}

/** Decodes a wallet of a list; undefined if it is invalid, and `walletFault` says why. */
export function walletKey(text: string): Uint8Array | undefined {
  const source = Buffer.from(text)
  return isLowerCased(source, 0, source.length) ? undefined : keyFromBase58(text)
}

/**
 * Explains why a text is not a wallet. A text longer than any wallet is not repeated, because it could be a secret key.
 */
export function walletFault(text: string): string {
  if (text === '') return 'the wallet is empty'
  const unseen = unseenCharacter(text)
  if (unseen !== undefined) return `the wallet has ${unseen.name} as character ${unseen.index + 1}; remove it`
  if (text.length > 44) {
    const hint = text.length === 87 || text.length === 88 ? '; this looks like a secret key, not a wallet' : ''
    return `a wallet is base58 of 32 to 44 characters, not ${text.length}${hint}`
  }
  const shown = JSON.stringify(text).replace(/[\u007f-\u{10ffff}]/gu, '?')
  if (/^0x/i.test(text)) return `${shown} is not a Solana wallet: a wallet is base58 of 32 bytes, without 0x`
  for (const character of text) {
    if (!BASE58_ALPHABET.includes(character)) {
      const position = text.indexOf(character) + 1
      const known = '0OIl'.includes(character) ? ' (base58 has no 0, O, I, l)' : ''
      return `${shown} is not a base58 wallet: character ${position} is not in the alphabet${known}`
    }
  }
  if (text.length < 32)
    return `${shown} is not a wallet: base58 of 32 bytes has 32 to 44 characters, not ${text.length}`
  if (text.length >= CAPITAL_FROM && !/[A-Z]/.test(text))
    return `${shown} has no capital letter, but base58 is case-sensitive: copy the wallet again from a source that is not in lower case`
  return `${shown} is not a wallet: it does not decode to exactly 32 bytes (a character missing, changed or too many?)`
}
