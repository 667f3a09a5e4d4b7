/** Random ids with a prefix for their type and 24 base62 characters (142 bits). */
import { randomBytes } from 'node:crypto'

const ID_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 24
/** Bytes from this value on are discarded: 256 is not a multiple of 62, and every character must be equally likely. */
const FAIR = 256 - (256 % ID_ALPHABET.length)

/** Creates an id, for example `newId('evt')` → `evt_4fJ…`. */
export function newId(prefix: string, random: (size: number) => Uint8Array = randomBytes): string {
  return `${prefix}_${randomText(LENGTH, random)}`
}

/** Returns `length` base62 characters, each with 5.95 bits of randomness. */
export function randomText(length: number, random: (size: number) => Uint8Array = randomBytes): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random(length - text.length + 8)) {
      if (byte < FAIR && text.length < length) text += ID_ALPHABET[byte % ID_ALPHABET.length]
    }
  }
  return text
}
