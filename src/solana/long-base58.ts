/**
 * Base58 beyond the 2,048 bytes and 4,096 characters of the library, because the data of an instruction may have more.
 */
import { base58 } from '@scure/base'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Most bytes and characters that the library takes. */
const LIBRARY_BYTES = 2_048
const LIBRARY_CHARACTERS = 4_096
/** More than the 10 KiB that one program may pass to another, which take 13,985 (Agave, MAX_INSTRUCTION_DATA_LEN). */
const MOST_CHARACTERS = 20_000
/** Digits that are processed at once: the most whose values a double holds exactly. */
const GROUP = 9
const GROUP_VALUE = 58n ** BigInt(GROUP)

/** Returns the base58 text of bytes; each zero byte at their start is a `1`. Takes milliseconds for 10 KiB. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length <= LIBRARY_BYTES) return base58.encode(bytes)
  const first = bytes.findIndex((byte) => byte !== 0)
  if (first === -1) return '1'.repeat(bytes.length)
  let rest = BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`)
  const groups: string[] = []
  while (rest > 0n) {
    groups.push(digitsOf(Number(rest % GROUP_VALUE)))
    rest /= GROUP_VALUE
  }
  return '1'.repeat(first) + groups.reverse().join('').replace(/^1+/, '')
}

function digitsOf(group: number): string {
  let digits = ''
  let rest = group
  for (let place = 0; place < GROUP; place++) {
    digits = ALPHABET.charAt(rest % 58) + digits
    rest = Math.floor(rest / 58)
  }
  return digits
}

/** Returns the bytes of a text of at most 20,000 characters. Takes milliseconds; throws an Error for any other text. */
export function decodeBase58(text: string): Uint8Array {
  if (text.length <= LIBRARY_CHARACTERS) return base58.decode(text)
  if (text.length > MOST_CHARACTERS) throw new Error(`base58 of more than ${MOST_CHARACTERS} characters`)
  const first = text.search(/[^1]/)
  if (first === -1) return new Uint8Array(text.length)
  let value = 0n
  for (let at = first; at < text.length; at += GROUP) {
    const group = text.slice(at, at + GROUP)
    value = value * 58n ** BigInt(group.length) + BigInt(valueIn(group))
  }
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([new Uint8Array(first), bytes])
}

function valueIn(group: string): number {
  let value = 0
  for (const digit of group) {
    const place = ALPHABET.indexOf(digit)
    if (place === -1) throw new Error('a character that base58 does not have')
    value = value * 58 + place
  }
  return value
}
