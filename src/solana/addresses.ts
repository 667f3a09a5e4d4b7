/** Cached conversion between base58 addresses and bytes. */
import { base58 } from '@scure/base'

/**
 * Maximum size of each cache. The same owners, mints and programs are converted repeatedly, and cached strings are
 * shared.
 */
const MAX_CACHED_ADDRESSES = 8_192
const textByBytes = new Map<string, string>()
const bytesByText = new Map<string, Uint8Array>()

/** Text that is equal for equal bytes, as the key of a map. */
export const byteKey = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** Returns the base58 text of 32 bytes. */
export function addressOf(bytes: Uint8Array): string {
  const key = byteKey(bytes)
  const known = textByBytes.get(key)
  if (known !== undefined) return known
  if (textByBytes.size >= MAX_CACHED_ADDRESSES) textByBytes.clear()
  const text = base58.encode(bytes)
  textByBytes.set(key, text)
  return text
}

/** Returns the 32 bytes of an address, which must not be modified. Throws an Error that names the address. */
export function addressBytes(address: string): Uint8Array {
  const known = bytesByText.get(address)
  if (known !== undefined) return known
  const bytes = decodeAddress(address)
  if (bytesByText.size >= MAX_CACHED_ADDRESSES) bytesByText.clear()
  bytesByText.set(address, bytes)
  return bytes
}

function decodeAddress(address: string): Uint8Array {
  let bytes: Uint8Array
  try {
    bytes = base58.decode(address)
  } catch {
    throw new Error(`"${address}" is not an address: it is not base58`)
  }
  if (bytes.length !== 32) throw new Error(`"${address}" is not an address: it has ${bytes.length} bytes instead of 32`)
  return bytes
}

/** Entry k is 256^k in base58. The alphabet is in ASCII order, so numbers of equal length compare as text. */
const BASE58_POWERS = Array.from({ length: 33 }, (_, k) => base58.encode(Uint8Array.of(1, ...new Uint8Array(k))))

/**
 * Whether the text is base58 of exactly 32 bytes. It compares instead of decoding, because a request may contain
 * 50,000 addresses.
 */
export function isAddress(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false
  const rest = text.replace(/^1+/, '')
  const bytes = 32 - (text.length - rest.length)
  if (bytes <= 0 || rest === '') return bytes === 0 && rest === ''
  return !isBelow(rest, powerOf256(bytes - 1)) && isBelow(rest, powerOf256(bytes))
}

const isBelow = (a: string, b: string): boolean => (a.length === b.length ? a < b : a.length < b.length)

function powerOf256(exponent: number): string {
  const power = BASE58_POWERS[exponent]
  if (power === undefined) throw new RangeError(`no power of 256 for ${exponent}`)
  return power
}

/** Whether a text that is too long for an address has only letters of base58; they are also letters of base64. */
export const looksBase58 = (text: string): boolean => text.length > 64 && /^[1-9A-HJ-NP-Za-km-z]+$/.test(text)
