/** Keys whose address begins or ends with a chosen text: how rare they are, and the search for them. */
import { createPrivateKey, randomFillSync } from 'node:crypto'
import { base58 } from '@scure/base'
import { SEED_BYTES } from './signatures.ts'

export const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** One core would search for a longer text for millions of years. */
export const MOST_LETTERS = 10
const ADDRESS_BITS = 256
const MOST_ADDRESS_LETTERS = 44
/** The public key that a JWK must name. Node computes the real one from the seed. */
const UNKNOWN_PUBLIC_KEY = 'A'.repeat(43)

export interface AddressPattern {
  startsWith: string
  endsWith: string
  /** Whether upper and lower case are the same letter. */
  ignoreCase: boolean
}

/** The letters of a text that no address with this pattern can have, each once: `0`, `O`, `I`, `l` and signs. */
export const impossibleLetters = (text: string, ignoreCase: boolean): string[] => [
  ...new Set([...text].filter((letter) => spellingsOf(letter, ignoreCase).length === 0)),
]

/** The letters of base58 that a letter stands for: none, one or two. */
const spellingsOf = (letter: string, ignoreCase: boolean): string[] =>
  [...new Set(ignoreCase ? [letter, letter.toLowerCase(), letter.toUpperCase()] : [letter])].filter(
    (each) => each.length === 1 && BASE58_ALPHABET.includes(each),
  )

/**
 * The probability that the address of a random key has the pattern, 0 to 1. It is exact for a beginning: an address of
 * 44 letters begins with 2 to J, so the other letters begin only one address in a thousand.
 */
export function probabilityOf({ startsWith, endsWith, ignoreCase }: AddressPattern): number {
  const beginnings = spelled(startsWith, ignoreCase).reduce((sum, text) => sum + keysBeginningWith(text), 0n)
  // Of 2^256 keys, as a fraction with 53 bits that count.
  const first = startsWith === '' ? 1 : Number(beginnings) / 2 ** ADDRESS_BITS
  const variants = [...endsWith].reduce((product, letter) => product * spellingsOf(letter, ignoreCase).length, 1)
  return (first * variants) / BASE58_ALPHABET.length ** endsWith.length
}

function spelled(text: string, ignoreCase: boolean): string[] {
  return [...text].reduce<string[]>(
    (beginnings, letter) =>
      beginnings.flatMap((beginning) => spellingsOf(letter, ignoreCase).map((each) => beginning + each)),
    [''],
  )
}

/** How many of the 2^256 keys have an address that begins with a text: each leading `1` is a zero byte. */
function keysBeginningWith(text: string): bigint {
  const rest = text.replace(/^1+/, '')
  const zeroBytes = text.length - rest.length
  const most = 1n << BigInt(ADDRESS_BITS - 8 * zeroBytes)
  if (rest === '') return most
  const least = most >> 8n
  const digits = [...rest].reduce((number, letter) => number * 58n + BigInt(BASE58_ALPHABET.indexOf(letter)), 0n)
  let keys = 0n
  for (let open = 0; open <= MOST_ADDRESS_LETTERS - rest.length; open++) {
    const scale = 58n ** BigInt(open)
    const [from, to] = [digits * scale, (digits + 1n) * scale]
    const common = (to < most ? to : most) - (from > least ? from : least)
    if (common > 0n) keys += common
  }
  return keys
}

/** Tells whether an address has the pattern. */
export function matcherOf({ startsWith, endsWith, ignoreCase }: AddressPattern): (address: string) => boolean {
  if (!ignoreCase) return (address) => address.startsWith(startsWith) && address.endsWith(endsWith)
  const [beginning, end] = [startsWith.toLowerCase(), endsWith.toLowerCase()]
  return (address) =>
    address.slice(0, beginning.length).toLowerCase() === beginning &&
    address.slice(address.length - end.length).toLowerCase() === end
}

/**
 * Makes `count` random keys and returns the 32-byte seeds of those whose address matches.
 *
 * Node derives a public key twenty times as fast through a JWK as through DER. `generateKeyPairSync` is avoided, as in
 * `freshKey`.
 */
export function tryKeys(matches: (address: string) => boolean, count: number): Uint8Array[] {
  const seeds = randomFillSync(Buffer.alloc(count * SEED_BYTES))
  const found: Uint8Array[] = []
  for (let at = 0; at < seeds.length; at += SEED_BYTES) {
    const d = seeds.toString('base64url', at, at + SEED_BYTES)
    const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x: UNKNOWN_PUBLIC_KEY }, format: 'jwk' })
    const { x = '' } = key.export({ format: 'jwk' })
    if (matches(base58.encode(Buffer.from(x, 'base64url'))))
      found.push(Uint8Array.from(seeds.subarray(at, at + SEED_BYTES)))
  }
  seeds.fill(0)
  return found
}
