/** Bytes in the browser: comparing, numbers, base64, and hashes by WebCrypto. */

import { type Bytes, joinBytes } from '../../solana/bytes.ts'

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at])

/** SHA-256 of the parts, one after the other. */
export async function digestOf(...parts: readonly Uint8Array[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joinBytes(parts)))
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
export const readU64 = (bytes: Uint8Array, at: number): bigint => viewOf(bytes).getBigUint64(at, true)
export const readU32 = (bytes: Uint8Array, at: number): number => viewOf(bytes).getUint32(at, true)

export function u64Of(value: bigint): Bytes {
  const bytes = new Uint8Array(8)
  viewOf(bytes).setBigUint64(0, value, true)
  return bytes
}

export function u32Of(value: number): Bytes {
  const bytes = new Uint8Array(4)
  viewOf(bytes).setUint32(0, value, true)
  return bytes
}

export const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

/** Throws an Error for text that is not base64. */
export const bytesOfBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
