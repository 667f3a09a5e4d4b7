/** Bytes without Buffer, which browsers lack: joining, and hexadecimal. */

export type Bytes = Uint8Array<ArrayBuffer>

export function joinBytes(parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function hexOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}

/** Bytes of hexadecimal text whose form the caller has checked. */
export const bytesOfHex = (text: string): Bytes =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

/** Number of bytes of a length below 2^21. */
export const compactLengthBytes = (value: number): number => (value < 0x80 ? 1 : value < 0x4000 ? 2 : 3)

export function compactLength(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 0x80)) {
    if (rest < 0x80) return [...bytes, rest]
    bytes.push((rest % 0x80) | 0x80)
  }
}

/** Returns the length at an offset, and where it ends. */
export function readCompactLength(bytes: Uint8Array, offset: number): { value: number; end: number } {
  let value = 0
  for (let at = offset; ; at++) {
    const byte = bytes[at] ?? 0
    value |= (byte & 0x7f) << (7 * (at - offset))
    if (byte < 0x80) return { value, end: at + 1 }
  }
}
