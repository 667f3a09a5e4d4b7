/** Base58 of 32-byte keys; it accepts exactly what `decodeKey` in TypeScript accepts. */

const ONE: u8 = 49
/** 58^5: five digits are read as one number, so a key has nine of them. */
const GROUP: u64 = 656356768

/** Value of each character, -1 for one that is not of the alphabet. */
const DIGITS: usize = memory.data(256, 16)
/** Row k holds the u32 limb k (most significant first) of (58^5)^(8 - i) for i from 0 to 7; it is 0 if i > k. */
const WEIGHTS: usize = memory.data(256, 16)
/** The text aligned to the right, after digits of value 0: 45 characters, and room for 16-byte stores. */
const TEXT: usize = memory.data(80, 16)

/** Fills the tables; once for each instance. */
export function prepareKeys(): void {
  memory.fill(DIGITS, 0xff, 256)
  let value: u8 = 0
  for (let character: u32 = 49; character <= 122; character++) {
    const isDigit = character <= 57
    const isUpper = character >= 65 && character <= 90 && character !== 73 && character !== 79
    const isLower = character >= 97 && character !== 108
    if (isDigit || isUpper || isLower) store<u8>(DIGITS + character, value++)
  }
  // The row below the last one is 1; each row above is the one below times 58^5.
  for (let i: i32 = 7; i >= 0; i--) {
    let carry: u64 = 0
    for (let k: i32 = 7; k >= 0; k--) {
      const below: u64 = i === 7 ? (k === 7 ? 1 : 0) : <u64>weight(k, i + 1)
      carry += below * GROUP
      store<u32>(WEIGHTS + 4 * <usize>(8 * k + i), <u32>carry)
      carry >>= 32
    }
  }
}

function weight(k: i32, i: i32): u32 {
  return load<u32>(WEIGHTS + 4 * <usize>(8 * k + i))
}

function product(group: u64, k: i32, i: i32): u64 {
  return group * <u64>weight(k, i)
}

function digit(place: usize): i32 {
  return <i32>load<i8>(DIGITS + <usize>load<u8>(TEXT + place))
}

/** Set to a negative number by a group with a character that is not of the alphabet. */
let faulty: i32 = 0

function group(place: usize): u64 {
  const a = digit(place)
  const b = digit(place + 1)
  const c = digit(place + 2)
  const d = digit(place + 3)
  const e = digit(place + 4)
  faulty |= a | b | c | d | e
  return <u64>((((a * 58 + b) * 58 + c) * 58 + d) * 58 + e)
}

/** Stores the limb and returns the carry into the next one. */
function keep(out: usize, limb: usize, value: u64): u64 {
  store<u32>(out + 4 * limb, bswap<u32>(<u32>value))
  return value >> 32
}

/**
 * Decodes the text of `length` bytes at `text` into 32 bytes at `out`; false when it is not the canonical base58 of
 * 32 bytes. Reads up to 48 bytes from `text`, whatever the length, and writes 32 in any case.
 */
export function decodeKey(text: usize, length: u32, out: usize): bool {
  if (length < 32 || length > 44) return false
  v128.store(TEXT, i8x16.splat(ONE))
  const to = TEXT + 45 - length
  v128.store(to, v128.load(text))
  v128.store(to, v128.load(text, 16), 16)
  v128.store(to, v128.load(text, 32), 32)
  faulty = 0
  const g0 = group(0)
  const g1 = group(5)
  const g2 = group(10)
  const g3 = group(15)
  const g4 = group(20)
  const g5 = group(25)
  const g6 = group(30)
  const g7 = group(35)
  const g8 = group(40)
  if (faulty < 0) return false
  // No sum exceeds 64 bits: with all digits at their highest, the largest has 63.
  let sum = g8 + product(g0, 7, 0) + product(g1, 7, 1) + product(g2, 7, 2) + product(g3, 7, 3)
  sum += product(g4, 7, 4) + product(g5, 7, 5) + product(g6, 7, 6) + product(g7, 7, 7)
  let carry = keep(out, 7, sum)
  sum = carry + product(g0, 6, 0) + product(g1, 6, 1) + product(g2, 6, 2) + product(g3, 6, 3)
  carry = keep(out, 6, sum + product(g4, 6, 4) + product(g5, 6, 5) + product(g6, 6, 6))
  sum = carry + product(g0, 5, 0) + product(g1, 5, 1) + product(g2, 5, 2) + product(g3, 5, 3)
  carry = keep(out, 5, sum + product(g4, 5, 4) + product(g5, 5, 5))
  sum = carry + product(g0, 4, 0) + product(g1, 4, 1) + product(g2, 4, 2) + product(g3, 4, 3)
  carry = keep(out, 4, sum + product(g4, 4, 4))
  sum = carry + product(g0, 3, 0) + product(g1, 3, 1) + product(g2, 3, 2) + product(g3, 3, 3)
  carry = keep(out, 3, sum)
  carry = keep(out, 2, carry + product(g0, 2, 0) + product(g1, 2, 1) + product(g2, 2, 2))
  carry = keep(out, 1, carry + product(g0, 1, 0) + product(g1, 1, 1))
  carry = keep(out, 0, carry + product(g0, 0, 0))
  return carry === 0 && leading(text, length, ONE) === leading(out, 32, 0)
}

/** Counts the bytes equal to `byte` at the start of `length` bytes. */
function leading(at: usize, length: u32, byte: u8): u32 {
  let count: u32 = 0
  while (count < length && load<u8>(at + count) === byte) count++
  return count
}

/** Whether the text that was decoded last, of `length` bytes, is long and has no capital letter. */
export function isLowerCased(length: u32): bool {
  if (length < 40) return false
  // The text begins at byte 45 - length or before; there is no capital before it.
  const some = v128.or(capitals(TEXT), v128.or(capitals(TEXT + 16), capitals(TEXT + 29)))
  return !v128.any_true(some)
}

function capitals(at: usize): v128 {
  return v128.lt<u8>(v128.sub<i8>(v128.load(at), i8x16.splat(65)), i8x16.splat(26))
}

/**
 * Hash of the text that was decoded last without the case of letters, by 12 keys of u64 at `keys`: multiply-shift with
 * a
 * key for each u32. Its high half is the same for two texts with a probability of about 2^-32, however they were
 * crafted.
 */
export function caselessHash(keys: usize): u64 {
  let sum = load<u64>(keys, 88)
  // The bit by which capital and small letters differ is set in every digit too.
  for (let i: usize = 0; i < 44; i += 4) sum += load<u64>(keys + 2 * i) * <u64>(load<u32>(TEXT + 1 + i) | 0x20202020)
  return sum
}
