/** Ids with a prefix for their type and 24 base62 characters. They are random (142 bits) or begin with a time. */
import { randomBytes, randomFillSync } from 'node:crypto'

const ID_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 24
/** Bytes from this value on are discarded: 256 is not a multiple of 62, and every character must be equally likely. */
const FAIR = 256 - (256 % ID_ALPHABET.length)

const POOL_BYTES = 8192
const pool = Buffer.alloc(POOL_BYTES)
let taken = POOL_BYTES

/**
 * A pool of the system's random bytes, because each call costs more than its bytes. Each byte is used once and wiped,
 * so that the pool reveals nothing about earlier ids and keys.
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

/** Characters of an id that contain its time; enough for six thousand years. */
const TIME_LENGTH = 8
let lastMoment = { at: -1, text: '' }

/**
 * Creates an id that begins with its time, so that thousands of new rows go to the end of their index instead of many
 * pages. The other 16 characters are random (95 bits). For ids that must not be guessed, use `newId`.
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
