/** Computes the ends and relative liquidity of a curve's segments, like the builders of the SDK. */
import type { CurvePreset } from '../../../api/pool-presets.ts'
import { squareRoot } from '../../../solana/square-root.ts'
import { presetFault, wholeWeights } from './preset-amounts.ts'
import { marketCapOf, type RawPreset } from './presets.ts'
import { bigintOf, type Dbc } from './program.ts'

/** Segments of the builder with liquidity weights. */
const WEIGHTED_SEGMENTS = 16
/** A sixteenth root is a square root four times. */
const SQUARE_ROOTS = 4

export interface CurveSegments {
  /** Square roots of the prices times 2^64, ascending: the first price, then the end of each segment. */
  prices: readonly bigint[]
  /** Relative liquidity of each segment. */
  weights: readonly bigint[]
}

/** Throws bad_request with the field at fault as `param`. */
export function segmentsOf({ sdk }: Dbc, preset: CurvePreset, raw: RawPreset): CurveSegments {
  const { supply, initialMarketCap, migrationMarketCap } = raw
  const [start, end] = [sqrtPriceAt(initialMarketCap, supply), sqrtPriceAt(migrationMarketCap, supply)]
  if (start < bigintOf(sdk.MIN_SQRT_PRICE))
    throw presetFault('initial_market_cap', 'is too little for the supply: the first price would be 0')
  if (end >= bigintOf(sdk.MAX_SQRT_PRICE))
    throw presetFault('migration_market_cap', 'is too much for the supply: the price cannot be represented')
  if (end <= start) throw presetFault('migration_market_cap', 'is too close to initial_market_cap')
  const { shape } = preset
  if (shape.kind === 'market_cap') return { prices: [start, end], weights: [1n] }
  if (shape.kind === 'liquidity_weights') {
    const prices = geometricPrices(start, end)
    return { prices: ascending(prices), weights: wholeWeights(shape.weights, 'shape.weights') }
  }
  if (shape.kind === 'custom') return customSegments(preset, shape, raw, [start, end])
  const mids = shape.kind === 'mid_price' ? [midPrice(preset, shape, raw, [start, end])] : midPrices(start, end)
  return twoSegments(shape.migration_supply_percentage, preset, raw, { start, end, mids })
}

const sqrtPriceAt = (marketCap: bigint, supply: bigint): bigint => squareRoot((marketCap << 128n) / supply)

/** Each price is the one before times the sixteenth root of the ratio between the last and the first. */
const geometricPrices = (start: bigint, end: bigint): bigint[] =>
  Array.from({ length: WEIGHTED_SEGMENTS + 1 }, (_, i) =>
    rootOf(start ** BigInt(WEIGHTED_SEGMENTS - i) * end ** BigInt(i), SQUARE_ROOTS),
  )

/** Takes the square root `times` times. */
const rootOf = (value: bigint, times: number): bigint => (times === 0 ? value : rootOf(squareRoot(value), times - 1))

function ascending(prices: readonly bigint[]): readonly bigint[] {
  if (prices.every((price, i) => i === 0 || price > (prices[i - 1] ?? 0n))) return prices
  throw presetFault('migration_market_cap', 'is too close to initial_market_cap for so many segments')
}

function customSegments(
  preset: CurvePreset,
  { market_caps, weights }: Extract<CurvePreset['shape'], { kind: 'custom' }>,
  { supply }: RawPreset,
  [start, end]: readonly [bigint, bigint],
): CurveSegments {
  const between = market_caps.map((amount, i) => sqrtPriceAt(marketCapOf(preset, amount, capField(i)), supply))
  const prices = [start, ...between, end]
  const fault = prices.findIndex((price, i) => i > 0 && price <= (prices[i - 1] ?? 0n))
  if (fault >= 0) {
    const last = market_caps.length - 1
    throw presetFault(
      capField(Math.min(fault - 1, last)),
      'must rise from one to the next, above initial_market_cap and below migration_market_cap',
    )
  }
  const count = prices.length - 1
  if (weights !== undefined && weights.length !== count) {
    throw presetFault('shape.weights', `must be ${count}, one for each segment, not ${weights.length}`)
  }
  return { prices, weights: weights === undefined ? Array(count).fill(1n) : wholeWeights(weights, 'shape.weights') }
}

const capField = (i: number) => `shape.market_caps.${i}`

function midPrice(
  preset: CurvePreset,
  { mid_market_cap }: Extract<CurvePreset['shape'], { kind: 'mid_price' }>,
  { supply }: RawPreset,
  [start, end]: readonly [bigint, bigint],
): bigint {
  const price = sqrtPriceAt(marketCapOf(preset, mid_market_cap, 'shape.mid_market_cap'), supply)
  if (price > start && price < end) return price
  throw presetFault('shape.mid_market_cap', 'must be between initial_market_cap and migration_market_cap')
}

/**
 * The prices that the SDK tries, in its order: a quarter, three quarters and half of the way, on a logarithmic scale.
 */
const midPrices = (start: bigint, end: bigint): bigint[] => [
  rootOf(start ** 3n * end, 2),
  rootOf(start * end ** 3n, 2),
  rootOf(start * end, 1),
]

/**
 * Solves for the liquidity of two segments that sell one part of the supply for the quote that migrates with the other
 * part.
 */
function twoSegments(
  percentage: number,
  { migration_fee }: CurvePreset,
  { supply, migrationMarketCap, withheld }: RawPreset,
  { start, end, mids }: { start: bigint; end: bigint; mids: readonly bigint[] },
): CurveSegments {
  const field = 'shape.migration_supply_percentage'
  const kept = 100n - BigInt(migration_fee?.percentage ?? 0)
  const sold = supply - (supply * BigInt(percentage)) / 100n - withheld
  if (sold <= 0n) throw presetFault(field, 'leaves nothing of the supply to sell')
  const threshold = (migrationMarketCap * BigInt(percentage)) / kept
  // The mean price of the sold tokens must be between the mean prices of the two segments.
  const [taken, perPrice] = [threshold << 128n, sold]
  for (const mid of mids) {
    if (mid <= start || mid >= end) continue
    const first = perPrice * mid * end - taken
    const second = taken - perPrice * start * mid
    if (first > 0n && second > 0n) {
      return { prices: [start, mid, end], weights: [first * start * (end - mid), second * end * (mid - start)] }
    }
  }
  const isTooMuch = mids.every((mid) => perPrice * mid * end <= taken)
  throw presetFault(
    field,
    `is too ${isTooMuch ? 'much' : 'little'} for these market caps: no two segments raise the amount that it needs from the tokens sold`,
  )
}
