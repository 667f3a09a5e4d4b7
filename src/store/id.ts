/** Ids with a prefix for their type and 24 base62 characters: random ones (142 bits), and ones that begin with a time. */
import { randomBytes, randomFillSync } from 'node:crypto'

const ID_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 24
/** Bytes from this value on are discarded: 256 is not a multiple of 62, and every character must be equally likely. */
const FAIR = 256 - (256 % ID_ALPHABET.length)

const POOL_BYTES = 8192
const pool = Buffer.alloc(POOL_BYTES)
let taken = POOL_BYTES

/**
 * Random bytes of the system, asked for many at a time, because each question costs more than the bytes. Each byte is
 * given once and wiped from the pool, so that the pool tells nothing of ids and keys made before.
 */
export function pooledBytes(size: number): Buffer {
  if (size > POOL_BYTES / 8) return randomBytes(size)
  if (taken + size > POOL_BYTES) {
    randomFillSync(pool)
    taken = 0
  }
  const bytes = Buffer.from(pool.subarray(taken, taken + size))
  pool.fill(0, taken, taken + size)
  taken += size
  return bytes
}

/** Creates an id, for example `newId('evt')` → `evt_4fJ…`. */
export function newId(prefix: string, random: (size: number) => Uint8Array = pooledBytes): string {
  return `${prefix}_${randomText(LENGTH, random)}`
}

/** Characters of an id that say when it was made; enough for six thousand years. */
const TIME_LENGTH = 8
let lastMoment = { at: -1, text: '' }

/**
 * Creates an id that begins with its time, so that rows which are added by the thousand are added at the end of their
 * index, and not to a page of it each. The other 16 characters are random (95 bits): for what nobody is to guess, use
 * `newId`.
 */
export function newTimedId(prefix: string, at: number): string {
  if (lastMoment.at !== at) lastMoment = { at, text: momentText(at) }
  return `${prefix}_${lastMoment.text}${randomText(LENGTH - TIME_LENGTH)}`
}

function momentText(at: number): string {
  let text = ''
  for (let rest = Math.max(0, Math.floor(at)); text.length < TIME_LENGTH; rest = Math.floor(rest / 62)) {
    text = ID_ALPHABET[rest % 62] + text
  }
  return text
}

/** Returns `length` base62 characters, each with 5.95 bits of randomness. */
export function randomText(length: number, random: (size: number) => Uint8Array = pooledBytes): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random(length - text.length + 8)) {
      if (byte < FAIR && text.length < length) text += ID_ALPHABET[byte % ID_ALPHABET.length]
    }
  }
  return text
}
