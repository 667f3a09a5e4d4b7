/** SHA-256 of short messages, at once: WebCrypto takes ten times as long for each of the hundred thousands of a tree. */

const CONSTANTS = new Int32Array(64)
const INITIAL = new Int32Array(8)

/** The first 32 bits of the fractional part. */
const fraction = (value: number) => ((value - Math.floor(value)) * 2 ** 32) | 0
const isPrime = (number: number) => {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false
  return true
}
for (let found = 0, number = 2; found < 64; number++) {
  if (!isPrime(number)) continue
  if (found < 8) INITIAL[found] = fraction(Math.sqrt(number))
  CONSTANTS[found++] = fraction(Math.cbrt(number))
}

const words = new Int32Array(64)
const state = new Int32Array(8)
/** Two blocks, which hold up to 119 bytes of message. */
const padded = new Uint8Array(128)
const wordAt = (array: Int32Array, at: number) => array[at] as number

function compress(start: number): void {
  for (let i = 0, at = start; i < 16; i++, at += 4) {
    const high = ((padded[at] as number) << 24) | ((padded[at + 1] as number) << 16)
    words[i] = high | ((padded[at + 2] as number) << 8) | (padded[at + 3] as number)
  }
  for (let i = 16; i < 64; i++) {
    const [x, y] = [wordAt(words, i - 15), wordAt(words, i - 2)]
    const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    words[i] = (wordAt(words, i - 16) + low + wordAt(words, i - 7) + high) | 0
  }
  let [a, b, c, d] = [wordAt(state, 0), wordAt(state, 1), wordAt(state, 2), wordAt(state, 3)]
  let [e, f, g, h] = [wordAt(state, 4), wordAt(state, 5), wordAt(state, 6), wordAt(state, 7)]
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + wordAt(CONSTANTS, i) + wordAt(words, i)) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = wordAt(state, 0) + a
  state[1] = wordAt(state, 1) + b
  state[2] = wordAt(state, 2) + c
  state[3] = wordAt(state, 3) + d
  state[4] = wordAt(state, 4) + e
  state[5] = wordAt(state, 5) + f
  state[6] = wordAt(state, 6) + g
  state[7] = wordAt(state, 7) + h
}

/** Writes the hash of the first `length` bytes of `message`, at most 119, to `out[at]`; `out` may be `message`. */
export function hashShort(message: Uint8Array, length: number, out: Uint8Array, at: number): void {
  const blocks = length > 55 ? 2 : 1
  for (let i = 0; i < length; i++) padded[i] = message[i] as number
  padded[length] = 0x80
  padded.fill(0, length + 1, 64 * blocks)
  padded[64 * blocks - 2] = (length * 8) >> 8
  padded[64 * blocks - 1] = (length * 8) & 0xff
  state.set(INITIAL)
  for (let block = 0; block < blocks; block++) compress(64 * block)
  for (let i = 0; i < 8; i++) {
    const word = wordAt(state, i)
    out[at + 4 * i] = word >>> 24
    out[at + 4 * i + 1] = word >>> 16
    out[at + 4 * i + 2] = word >>> 8
    out[at + 4 * i + 3] = word
  }
}
