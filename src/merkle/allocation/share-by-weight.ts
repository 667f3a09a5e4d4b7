/**
 * Divides a sum by weights with the method of the largest remainder, so that the shares are whole and their sum is
 * exact.
 */
import { AllocationFault } from './fault.ts'
import type { Rational } from './rational.ts'

/** Most bits of the common denominator of all weights. */
const MOST_DENOMINATOR = 1n << 4096n

/**
 * Each share is its part rounded down. The units that are left go, one each, to the largest remainders; among equal
 * remainders the first wins. Throws AllocationFault when all weights are 0.
 */
export function shareByWeight(total: bigint, weights: readonly Rational[]): bigint[] {
  const whole = overOneDenominator(weights)
  const sum = whole.reduce((all, weight) => all + weight, 0n)
  if (sum === 0n) throw new AllocationFault('the total cannot be divided: every weight is 0')
  const remainders: bigint[] = []
  let left = total
  const shares = whole.map((weight, i) => {
    const product = total * weight
    const share = product / sum
    remainders[i] = product - share * sum
    left -= share
    return share
  })
  if (left === 0n) return shares
  const order = shares.map((_, i) => i)
  order.sort((one, other) => {
    const [a, b] = [remainders[one] as bigint, remainders[other] as bigint]
    return a === b ? one - other : a > b ? -1 : 1
  })
  // Each floor lacks less than one unit, so fewer units are left than there are remainders above 0.
  for (const i of order.slice(0, Number(left))) shares[i] = (shares[i] as bigint) + 1n
  return shares
}

/** The weights times their least common denominator. */
function overOneDenominator(weights: readonly Rational[]): bigint[] {
  let common = 1n
  for (const { d } of weights) {
    if (common % d === 0n) continue
    let [a, b] = [common, d]
    while (b !== 0n) [a, b] = [b, a % b]
    common *= d / a
    if (common >= MOST_DENOMINATOR) {
      throw new AllocationFault('the weights have too many different denominators: round them, as with floor(…)')
    }
  }
  return weights.map(({ n, d }) => n * (common / d))
}
