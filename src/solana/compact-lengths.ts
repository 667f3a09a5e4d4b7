/**
 * The lengths of lists in transactions: seven bits a byte, the lowest first; the highest bit is set if another byte
 * follows.
 */

/** Number of bytes of a length below 2^21. */
export const compactLengthBytes = (value: number): number => (value < 0x80 ? 1 : value < 0x4000 ? 2 : 3)

export function compactLength(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7) {
    if (rest < 0x80) return [...bytes, rest]
    bytes.push((rest & 0x7f) | 0x80)
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
