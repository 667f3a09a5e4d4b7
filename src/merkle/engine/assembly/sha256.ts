/** SHA-256 of four messages at a time, one in each 32-bit lane of a 128-bit word. Source: FIPS 180-4. */

/**
 * Words of the block that is hashed next, four lanes each: the first sixteen are the message, the others are computed
 * from them.
 */
export const BLOCK: usize = memory.data(1024, 16)
/** The sum of word and round constant of each of the 64 rounds, four lanes each. */
const GIVEN: usize = memory.data(1024, 16)
/** The eight words of the state, four lanes each. */
export const STATE: usize = memory.data(128, 16)
/** For each value of one byte the 64 sums of a block that holds this byte and the padding of a 65-byte message. */
const CLOSING: usize = memory.data(65536, 16)

const INITIAL: usize = memory.data<u32>([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
])

const ROUND: usize = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])

function rotated(x: v128, bits: i32): v128 {
  return v128.or(v128.shr<u32>(x, bits), v128.shl<u32>(x, 32 - bits))
}

function sum(a: v128, b: v128): v128 {
  return v128.add<u32>(a, b)
}

function xor3(a: v128, b: v128, c: v128): v128 {
  return v128.xor(v128.xor(a, b), c)
}

/** Sets the state to that before the first block. */
export function start(): void {
  for (let i: usize = 0; i < 8; i++) v128.store(STATE + 16 * i, v128.load32_splat(INITIAL + 4 * i))
}

/**
 * Computes the word 256 bytes after `words` from those 16, 15, 7 and 2 words before it; returns it with its constant.
 */
function extended(words: usize, constant: usize): v128 {
  const x = v128.load(words + 16)
  const y = v128.load(words + 224)
  const low = xor3(rotated(x, 7), rotated(x, 18), v128.shr<u32>(x, 3))
  const high = xor3(rotated(y, 17), rotated(y, 19), v128.shr<u32>(y, 10))
  const kept = sum(v128.load(words), v128.load(words + 144))
  const word = sum(kept, sum(low, high))
  v128.store(words + 256, word)
  return sum(word, v128.load32_splat(constant))
}

/** Fills the 64 sums from the sixteen words of the block. */
function schedule(): void {
  for (let at: usize = 0; at < 256; at += 16) {
    v128.store(GIVEN + at, sum(v128.load(BLOCK + at), v128.load32_splat(ROUND + (at >> 2))))
  }
  for (let at: usize = 256; at < 1024; at += 16) {
    v128.store(GIVEN + at, extended(BLOCK + at - 256, ROUND + (at >> 2)))
  }
}

/** Σ1(e) + Ch(e, f, g) + h + the word and the constant of a round. */
function first(e: v128, f: v128, g: v128, h: v128, given: v128): v128 {
  const sigma = rotated(xor3(e, rotated(e, 5), rotated(e, 19)), 6)
  const chosen = v128.xor(g, v128.and(e, v128.xor(f, g)))
  return sum(sum(sum(h, given), chosen), sigma)
}

/** Σ0(a) + Maj(a, b, c). */
function second(a: v128, b: v128, c: v128): v128 {
  const sigma = rotated(xor3(a, rotated(a, 11), rotated(a, 20)), 2)
  return sum(sigma, v128.xor(b, v128.and(v128.xor(a, b), v128.xor(b, c))))
}

function word(words: usize, constant: usize): v128 {
  return sum(v128.load(words), v128.load32_splat(constant))
}

/** The 64 rounds over the given sums. Instead of moving the eight words, each round renames them by one. */
function rounds(): void {
  let a = v128.load(STATE, 0)
  let b = v128.load(STATE, 16)
  let c = v128.load(STATE, 32)
  let d = v128.load(STATE, 48)
  let e = v128.load(STATE, 64)
  let f = v128.load(STATE, 80)
  let g = v128.load(STATE, 96)
  let h = v128.load(STATE, 112)
  let t: v128
  for (let at: usize = 0; at < 1024; at += 128) {
    const sums = GIVEN + at
    t = first(e, f, g, h, v128.load(sums))
    d = sum(d, t)
    h = sum(t, second(a, b, c))
    t = first(d, e, f, g, v128.load(sums + 16))
    c = sum(c, t)
    g = sum(t, second(h, a, b))
    t = first(c, d, e, f, v128.load(sums + 32))
    b = sum(b, t)
    f = sum(t, second(g, h, a))
    t = first(b, c, d, e, v128.load(sums + 48))
    a = sum(a, t)
    e = sum(t, second(f, g, h))
    t = first(a, b, c, d, v128.load(sums + 64))
    h = sum(h, t)
    d = sum(t, second(e, f, g))
    t = first(h, a, b, c, v128.load(sums + 80))
    g = sum(g, t)
    c = sum(t, second(d, e, f))
    t = first(g, h, a, b, v128.load(sums + 96))
    f = sum(f, t)
    b = sum(t, second(c, d, e))
    t = first(f, g, h, a, v128.load(sums + 112))
    e = sum(e, t)
    a = sum(t, second(b, c, d))
  }
  v128.store(STATE, sum(v128.load(STATE, 0), a), 0)
  v128.store(STATE, sum(v128.load(STATE, 16), b), 16)
  v128.store(STATE, sum(v128.load(STATE, 32), c), 32)
  v128.store(STATE, sum(v128.load(STATE, 48), d), 48)
  v128.store(STATE, sum(v128.load(STATE, 64), e), 64)
  v128.store(STATE, sum(v128.load(STATE, 80), f), 80)
  v128.store(STATE, sum(v128.load(STATE, 96), g), 96)
  v128.store(STATE, sum(v128.load(STATE, 112), h), 112)
}

/** Hashes the block into the state: each word is computed just before its round. */
export function compress(): void {
  let a = v128.load(STATE, 0)
  let b = v128.load(STATE, 16)
  let c = v128.load(STATE, 32)
  let d = v128.load(STATE, 48)
  let e = v128.load(STATE, 64)
  let f = v128.load(STATE, 80)
  let g = v128.load(STATE, 96)
  let h = v128.load(STATE, 112)
  let t: v128
  for (let at: usize = 0; at < 256; at += 128) {
    const words = BLOCK + at
    const constants = ROUND + (at >> 2)
    t = first(e, f, g, h, word(words, constants))
    d = sum(d, t)
    h = sum(t, second(a, b, c))
    t = first(d, e, f, g, word(words + 16, constants + 4))
    c = sum(c, t)
    g = sum(t, second(h, a, b))
    t = first(c, d, e, f, word(words + 32, constants + 8))
    b = sum(b, t)
    f = sum(t, second(g, h, a))
    t = first(b, c, d, e, word(words + 48, constants + 12))
    a = sum(a, t)
    e = sum(t, second(f, g, h))
    t = first(a, b, c, d, word(words + 64, constants + 16))
    h = sum(h, t)
    d = sum(t, second(e, f, g))
    t = first(h, a, b, c, word(words + 80, constants + 20))
    g = sum(g, t)
    c = sum(t, second(d, e, f))
    t = first(g, h, a, b, word(words + 96, constants + 24))
    f = sum(f, t)
    b = sum(t, second(c, d, e))
    t = first(f, g, h, a, word(words + 112, constants + 28))
    e = sum(e, t)
    a = sum(t, second(b, c, d))
  }
  for (let at: usize = 256; at < 1024; at += 128) {
    const words = BLOCK + at - 256
    const constants = ROUND + (at >> 2)
    t = first(e, f, g, h, extended(words, constants))
    d = sum(d, t)
    h = sum(t, second(a, b, c))
    t = first(d, e, f, g, extended(words + 16, constants + 4))
    c = sum(c, t)
    g = sum(t, second(h, a, b))
    t = first(c, d, e, f, extended(words + 32, constants + 8))
    b = sum(b, t)
    f = sum(t, second(g, h, a))
    t = first(b, c, d, e, extended(words + 48, constants + 12))
    a = sum(a, t)
    e = sum(t, second(f, g, h))
    t = first(a, b, c, d, extended(words + 64, constants + 16))
    h = sum(h, t)
    d = sum(t, second(e, f, g))
    t = first(h, a, b, c, extended(words + 80, constants + 20))
    g = sum(g, t)
    c = sum(t, second(d, e, f))
    t = first(g, h, a, b, extended(words + 96, constants + 24))
    f = sum(f, t)
    b = sum(t, second(c, d, e))
    t = first(f, g, h, a, extended(words + 112, constants + 28))
    e = sum(e, t)
    a = sum(t, second(b, c, d))
  }
  v128.store(STATE, sum(v128.load(STATE, 0), a), 0)
  v128.store(STATE, sum(v128.load(STATE, 16), b), 16)
  v128.store(STATE, sum(v128.load(STATE, 32), c), 32)
  v128.store(STATE, sum(v128.load(STATE, 48), d), 48)
  v128.store(STATE, sum(v128.load(STATE, 64), e), 64)
  v128.store(STATE, sum(v128.load(STATE, 80), f), 80)
  v128.store(STATE, sum(v128.load(STATE, 96), g), 96)
  v128.store(STATE, sum(v128.load(STATE, 112), h), 112)
}

/** Computes the sums of the 256 closing blocks; once for each instance, before `compressClosing`. */
export function prepareClosing(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    v128.store(BLOCK, i32x4.splat((byte << 24) | 0x00800000))
    for (let at: usize = 16; at < 240; at += 16) v128.store(BLOCK + at, i32x4.splat(0))
    v128.store(BLOCK, i32x4.splat(65 * 8), 240)
    schedule()
    for (let i: usize = 0; i < 64; i++) store<u32>(CLOSING + ((<usize>byte) << 8) + 4 * i, load<u32>(GIVEN + 16 * i))
  }
}

/**
 * Hashes the second block of 65-byte messages, of which only the last byte is not padding: that of `last` in each
 * lane.
 */
export function compressClosing(last: v128): void {
  const p0 = CLOSING + ((<usize>v128.extract_lane<u8>(last, 0)) << 8)
  const p1 = CLOSING + ((<usize>v128.extract_lane<u8>(last, 4)) << 8)
  const p2 = CLOSING + ((<usize>v128.extract_lane<u8>(last, 8)) << 8)
  const p3 = CLOSING + ((<usize>v128.extract_lane<u8>(last, 12)) << 8)
  for (let at: usize = 0; at < 256; at += 16) {
    transpose(v128.load(p0 + at), v128.load(p1 + at), v128.load(p2 + at), v128.load(p3 + at), GIVEN + 4 * at)
  }
  rounds()
}

/** Stores the words of four messages as words of four lanes. */
export function transpose(x0: v128, x1: v128, x2: v128, x3: v128, to: usize): void {
  const a = v128.shuffle<u32>(x0, x1, 0, 4, 1, 5)
  const b = v128.shuffle<u32>(x0, x1, 2, 6, 3, 7)
  const c = v128.shuffle<u32>(x2, x3, 0, 4, 1, 5)
  const d = v128.shuffle<u32>(x2, x3, 2, 6, 3, 7)
  v128.store(to, v128.shuffle<u64>(a, c, 0, 2), 0)
  v128.store(to, v128.shuffle<u64>(a, c, 1, 3), 16)
  v128.store(to, v128.shuffle<u64>(b, d, 0, 2), 32)
  v128.store(to, v128.shuffle<u64>(b, d, 1, 3), 48)
}
