/**
 * Computes what each holder of a snapshot gets, or why a holder gets nothing. Pure and exact: only the final amounts
 * are rounded.
 */
import { byteKey } from '../../solana/addresses.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { keyToBase58 } from '../base58.ts'
import { AllocationFault } from './fault.ts'
import type { Formula } from './formula.ts'
import type { FormulaVariables } from './formula-operators.ts'
import { type HolderRows, holderAddress, holderAt } from './holder-rows.ts'
import type { Tier } from './input-lines.ts'
import { floorOf, fraction, type Rational, timesRational, wholeNumber } from './rational.ts'

export type AllocationRule =
  /** The total is divided by balance, or by the formula's result. */
  | { kind: 'total'; total: bigint; weights: Formula | null }
  | { kind: 'equal'; amount: bigint }
  | { kind: 'tiers'; tiers: readonly Tier[] }
  | { kind: 'formula'; formula: Formula }

/**
 * In the order of their codes. `kept` gets an amount; `kind`: not a wallet; `zero`: the amount rounds to 0.
 */
export const ALLOCATION_OUTCOMES = ['kept', 'kind', 'excluded', 'below_min', 'no_tier', 'zero'] as const
export type AllocationOutcome = (typeof ALLOCATION_OUTCOMES)[number]

export interface AllocationInput {
  rows: HolderRows
  rule: AllocationRule
  /** Least balance in raw units. */
  min: bigint
  /** Addresses by `byteKey`. Exclusion wins over every other rule. */
  excluded: { has(key: string): boolean }
  /** Addresses that count although they are not wallets. */
  included: { has(key: string): boolean }
  /** Supply in raw units, for formulas. */
  supply: bigint
  /** Fractional digits of balances and amounts in formulas. */
  units: { balance: number; amount: number }
}

export interface Allocation {
  /** Raw units by row; 0 for those who get nothing. */
  amounts: BigUint64Array
  outcomes: Uint8Array
  /** Number of rows that get something, and the sum of their amounts. */
  kept: number
  total: bigint
}

const CODE = Object.fromEntries(ALLOCATION_OUTCOMES.map((name, code) => [name, code])) as Record<
  AllocationOutcome,
  number
>
const MOST_AMOUNT = 'more than a distributor can pay'

/** Throws AllocationFault if no holder is left, or an amount is negative or does not fit into 64 bits. */
export function allocate(input: AllocationInput): Allocation {
  const { rows, rule } = input
  const balances = new BigUint64Array(rows.count)
  const outcomes = new Uint8Array(rows.count)
  let [holders, held] = [0, 0n]
  for (let i = 0; i < rows.count; i++) {
    const { amount, kind } = holderAt(rows, i)
    balances[i] = amount
    outcomes[i] = CODE[entryOutcome(input, i, amount, kind === 'wallet')]
    if (outcomes[i] !== CODE.kept) continue
    holders++
    held += amount
  }
  if (holders === 0) throw new AllocationFault('no holder is left: check which holders were left out, and why')
  const amounts = new BigUint64Array(rows.count)
  const kept = indexesOf(outcomes)
  const variablesOf = variablesBy(input, held, holders)
  if (rule.kind === 'total') {
    const { weights } = rule
    const weightOf = (i: number): Rational =>
      weights === null
        ? wholeNumber(balances[i] ?? 0n)
        : positive(rows, i, () => weights(variablesOf(balances[i] ?? 0n)))
    shareByWeight(rule.total, kept.map(weightOf)).forEach((share, place) => {
      amounts[kept[place] as number] = share
    })
  } else {
    for (const i of kept) {
      const amount = amountBy(input, i, balances[i] ?? 0n, variablesOf)
      if (amount === null) outcomes[i] = CODE.no_tier
      else amounts[i] = amount
    }
  }
  return settled(amounts, outcomes)
}

function entryOutcome(
  { rows, excluded, included, min }: AllocationInput,
  i: number,
  balance: bigint,
  isWallet: boolean,
): AllocationOutcome {
  const key = byteKey(holderAddress(rows, i))
  if (excluded.has(key)) return 'excluded'
  if (!isWallet && !included.has(key)) return 'kind'
  return balance < min ? 'below_min' : 'kept'
}

function indexesOf(outcomes: Uint8Array): number[] {
  const kept: number[] = []
  outcomes.forEach((outcome, i) => {
    if (outcome === CODE.kept) kept.push(i)
  })
  return kept
}

function variablesBy({ supply, units }: AllocationInput, held: bigint, holders: number) {
  const scale = 10n ** BigInt(units.balance)
  const fixed = { supply: fraction(supply, scale), held: fraction(held, scale), holders: wholeNumber(BigInt(holders)) }
  return (balance: bigint): FormulaVariables => ({ ...fixed, balance: fraction(balance, scale) })
}

/** Null if no tier covers the balance. A formula's result is rounded down to whole raw units. */
function amountBy(
  { rows, rule, units }: AllocationInput,
  i: number,
  balance: bigint,
  variablesOf: (balance: bigint) => FormulaVariables,
): bigint | null {
  if (rule.kind === 'equal') return rule.amount
  if (rule.kind === 'tiers') return tierAt(rule.tiers, balance)?.amount ?? null
  if (rule.kind === 'total') throw new Error('a total is divided among all holders together')
  const given = positive(rows, i, () => rule.formula(variablesOf(balance)))
  const amount = floorOf(timesRational(given, wholeNumber(10n ** BigInt(units.amount))))
  if (amount > MAX_U64)
    throw new AllocationFault(`the formula gives ${keyToBase58(holderAddress(rows, i))} ${MOST_AMOUNT}`)
  return amount
}

/** Tiers are sorted and do not overlap. */
function tierAt(tiers: readonly Tier[], balance: bigint): Tier | undefined {
  let [low, high] = [0, tiers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((tiers[middle] as Tier).from <= balance) low = middle + 1
    else high = middle
  }
  const tier = tiers[low - 1]
  return tier !== undefined && (tier.to === null || balance < tier.to) ? tier : undefined
}

/** Runs a formula for a holder; its faults name the holder. */
function positive(rows: HolderRows, i: number, compute: () => Rational): Rational {
  const wallet = () => keyToBase58(holderAddress(rows, i))
  let value: Rational
  try {
    value = compute()
  } catch (error) {
    if (error instanceof AllocationFault) throw new AllocationFault(`${error.message} (for ${wallet()})`, error.at)
    throw error
  }
  if (value.n < 0n) throw new AllocationFault(`the formula gives ${wallet()} a negative number: use max(0, …)`)
  return value
}

function settled(amounts: BigUint64Array, outcomes: Uint8Array): Allocation {
  let [kept, total] = [0, 0n]
  amounts.forEach((amount, i) => {
    if (outcomes[i] !== CODE.kept) return
    if (amount === 0n) {
      outcomes[i] = CODE.zero
      return
    }
    kept++
    total += amount
  })
  if (kept === 0) throw new AllocationFault('every holder would get nothing: the amounts are below one raw unit')
  if (total > MAX_U64) throw new AllocationFault(`the amounts are ${total} raw units in all, ${MOST_AMOUNT}`)
  return { amounts, outcomes, kept, total }
}

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
