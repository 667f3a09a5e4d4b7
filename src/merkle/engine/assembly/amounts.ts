/** Decimal text to u64 base units; it accepts exactly what `readAmount` in TypeScript accepts. */

const POINT: u32 = 46

/** The amount that was read last. */
export let amount: u64 = 0

/**
 * Reads `digits`, or with `decimals` of 0 and more `digits[.digits]`, from `at` to before `end` and scales it by
 * 10^decimals; -1 for raw units. False for any other text, a fraction that is too long even without trailing zeros, or
 * more than u64 holds.
 */
export function readAmount(at: usize, end: usize, decimals: i32): bool {
  let value: u64 = 0
  let point: usize = 0
  for (let p = at; p < end; p++) {
    const byte = <u32>load<u8>(p)
    const digit = byte - 48
    if (digit > 9) {
      if (byte !== POINT || point !== 0 || decimals < 0) return false
      point = p
    } else if (point !== 0 && p - point > <usize>decimals) {
      // Zeros beyond the decimals do not count.
      if (digit !== 0) return false
    } else {
      if (exceeds(value, digit)) return false
      value = value * 10 + digit
    }
  }
  if (at === end || point === at || (point !== 0 && point + 1 === end)) return false
  let zeros = decimals < 0 ? 0 : decimals
  if (point !== 0) {
    zeros -= <i32>min<usize>(end - point - 1, <usize>decimals)
  }
  for (; zeros > 0; zeros--) {
    if (exceeds(value, 0)) return false
    value *= 10
  }
  amount = value
  return true
}

/** Whether ten times the value and the digit are more than 2^64 - 1. */
function exceeds(value: u64, digit: u32): bool {
  return value >= u64.MAX_VALUE / 10 && (value > u64.MAX_VALUE / 10 || digit > <u32>(u64.MAX_VALUE % 10))
}
