/** Base58 of addresses and back, cached, with a clear error. */
import { base58 } from '@scure/base'

/** The same owners, mints and programs are converted over and over; the cache also shares their strings. */
const MAX_CACHED_ADDRESSES = 8_192
const texts = new Map<string, string>()
const bytesByText = new Map<string, Uint8Array>()

/** Base58 of 32 bytes. */
export function addressOf(bytes: Uint8Array): string {
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const known = texts.get(key)
  if (known !== undefined) return known
  if (texts.size >= MAX_CACHED_ADDRESSES) texts.clear()
  const text = base58.encode(bytes)
  texts.set(key, text)
  return text
}

/** The 32 bytes of an address; not to be written to. Throws an Error that names it. */
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
