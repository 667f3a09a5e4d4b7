/** Exact fractions of big integers, for amounts that are computed: nothing is rounded before the end. */
import { squareRoot } from '../../solana/square-root.ts'
import { AllocationFault } from './fault.ts'

/** A fraction in lowest terms; the denominator is positive. */
export interface Rational {
  readonly n: bigint
  readonly d: bigint
}

/** Most bits of a number: far above any amount, and low enough that no formula can use up the memory. */
const MOST_BITS = 4_096
const MOST = 1n << BigInt(MOST_BITS)
/** Fractional digits of a computed square root. */
const ROOT_SCALE = 10n ** 18n

export const wholeNumber = (n: bigint): Rational => ({ n, d: 1n })

/** Throws AllocationFault for a number that is too long, RangeError for a division by zero. */
export function fraction(n: bigint, d: bigint): Rational {
  if (d === 0n) throw new RangeError('division by zero')
  if (d !== 1n) {
    const divisor = commonDivisor(n < 0n ? -n : n, d < 0n ? -d : d)
    const signed = d < 0n ? -divisor : divisor
    n /= signed
    d /= signed
  }
  if (n >= MOST || -n >= MOST || d >= MOST) throw new AllocationFault(`a number has more than ${MOST_BITS} bits`)
  return { n, d }
}

function commonDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

export const addRational = (a: Rational, b: Rational): Rational =>
  a.d === b.d ? fraction(a.n + b.n, a.d) : fraction(a.n * b.d + b.n * a.d, a.d * b.d)
export const negated = ({ n, d }: Rational): Rational => ({ n: -n, d })
export const timesRational = (a: Rational, b: Rational): Rational => fraction(a.n * b.n, a.d * b.d)
export const dividedBy = (a: Rational, b: Rational): Rational => fraction(a.n * b.d, a.d * b.n)

/** Negative, zero or positive if `a` is below, equal to or above `b`. */
export function compareRational(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** The largest whole number that is not above the fraction. */
export function floorOf({ n, d }: Rational): bigint {
  const quotient = n / d
  return n < 0n && quotient * d !== n ? quotient - 1n : quotient
}

/** The square root, rounded down to 18 fractional digits. Throws RangeError below zero. */
export function rootOf({ n, d }: Rational): Rational {
  if (n < 0n) throw new RangeError('the square root of a negative number')
  return fraction(squareRoot((n * ROOT_SCALE * ROOT_SCALE) / d), ROOT_SCALE)
}
