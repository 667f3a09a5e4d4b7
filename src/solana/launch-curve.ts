/** Launch curves as pools have them: prices, amounts raised, and the raw state of a pool from which they are read. */
import { decimalOf, groupedText } from './amounts.ts'
import { SOL_DECIMALS } from './constants.ts'
import { WRAPPED_SOL } from './program-ids.ts'
import { squareRoot } from './square-root.ts'

/** A curve in the program's units: each price is the square root of raw quote per raw unit, times 2^64. */
export interface CurveShape {
  start: bigint
  /** The ends of its segments in rising order, each with the liquidity up to it. */
  points: readonly { sqrtPrice: bigint; liquidity: bigint }[]
  /** The decimals of the token. */
  decimals: number
  /** The quote it is traded against; SOL by default. */
  quote?: QuoteUnit
}

/** How amounts of a quote are shown. */
export interface QuoteUnit {
  decimals: number
  /** Its name, such as SOL, or its shortened mint. */
  unit: string
}

export const SOL_UNIT: QuoteUnit = { decimals: SOL_DECIMALS, unit: 'SOL' }

/** The unit of a quote; raw units if its decimals are unknown. */
export function quoteUnitOf(mint: string | undefined, decimals: number | null): QuoteUnit {
  if (mint === undefined || mint === WRAPPED_SOL) return SOL_UNIT
  const short = `${mint.slice(0, 4)}…${mint.slice(-4)}`
  return decimals === null ? { decimals: 0, unit: `raw units of ${short}` } : { decimals, unit: short }
}

/** The lamports that fill the curve, within one lamport per segment. */
export const raisedInAll = ({ start, points }: CurveShape): bigint =>
  points.reduce(
    ({ sum, from }, { sqrtPrice, liquidity }) => ({
      sum: sum + ((liquidity * (sqrtPrice - from)) >> 128n),
      from: sqrtPrice,
    }),
    { sum: 0n, from: start },
  ).sum

/** The square root of the price after `lamports` were raised, limited to the ends of the curve. */
export function sqrtPriceAt({ start, points }: CurveShape, lamports: bigint): bigint {
  let [from, rest] = [start, lamports < 0n ? 0n : lamports]
  for (const { sqrtPrice, liquidity } of points) {
    const holds = (liquidity * (sqrtPrice - from)) >> 128n
    if (rest < holds && liquidity > 0n) return from + (rest << 128n) / liquidity
    rest -= holds
    from = sqrtPrice
  }
  return from
}

/**
 * Whole quote tokens for one whole token, as decimal text of `digits` digits; rounded, because a square root is
 * slightly below the exact price.
 */
export function priceOf(sqrtPrice: bigint, decimals: number, digits = 6, quote = SOL_UNIT): string {
  const scale = Math.max(40, quote.decimals)
  const price = (sqrtPrice * sqrtPrice * 10n ** BigInt(scale + decimals - quote.decimals)) >> 128n
  const excess = price.toString().length - digits
  const half = excess > 0 ? 5n * 10n ** BigInt(excess - 1) : 0n
  return shortOf(price + half, scale, digits)
}

/** The square root, times 2^64, of a price in decimal text; 0 for a price of 0. */
export function sqrtPriceFromText(price: string, decimals: number, quote = SOL_UNIT): bigint {
  const [whole = '0', fraction = ''] = price.split('.')
  const scaled = (BigInt(whole + fraction) << 128n) * 10n ** BigInt(quote.decimals)
  return squareRoot(scaled / 10n ** BigInt(fraction.length + decimals))
}

/** Raw units as decimal text of the first `digits` digits, rounded down; whole units are never cut. */
export function shortOf(raw: bigint, decimals: number, digits = 6): string {
  const length = raw.toString().length
  const cut = Math.min(Math.max(0, length - digits), decimals)
  const unit = 10n ** BigInt(cut)
  return decimalOf((raw / unit) * unit, decimals)
}

/** The same with thousands separators, for sentences. */
export const groupedShortOf = (raw: bigint, decimals: number, digits?: number): string =>
  groupedText(shortOf(raw, decimals, digits))

export interface PoolState {
  decimals: number | null
  /** What the pool is traded against, usually SOL. */
  quote: QuoteUnit
  /** The price of one whole token in the quote; null if the state does not contain it. */
  price: string | null
  /**
   * Whether the trading fee is always in the quote; otherwise it is in token or quote, by the side of the trade. Null if
   * the state does not say.
   */
  feesInSol: boolean | null
  /** The launch curve; null for any other pool. */
  curve: { shape: CurveShape; raised: bigint; threshold: bigint } | null
}

type StateFields = Record<string, unknown>

/** Reads the programs' raw state; fields of an unexpected shape are left out. */
export function poolState(pool: { type: string; state?: unknown; quote_mint?: string }): PoolState {
  const state = fieldsIn(pool.state)
  const quote = quoteUnitOf(pool.quote_mint, typeof state.quote_decimals === 'number' ? state.quote_decimals : null)
  if (pool.type === 'damm_v2') {
    return {
      quote,
      decimals: null,
      price: null,
      feesInSol: modeIn(state.collectFeeMode, (mode) => mode !== 0),
      curve: null,
    }
  }
  const [held, config] = [fieldsIn(fieldsIn(state.pool).poolState), fieldsIn(state.config)]
  const decimals = typeof config.tokenDecimal === 'number' ? config.tokenDecimal : null
  const feesInSol = modeIn(config.collectFeeMode, (mode) => mode === 0)
  const [sqrtPrice, start] = [bigintIn(held.sqrtPrice), bigintIn(config.sqrtStartPrice)]
  const [raised, threshold] = [bigintIn(held.quoteReserve), bigintIn(config.migrationQuoteThreshold)]
  const price = sqrtPrice === null || decimals === null ? null : priceOf(sqrtPrice, decimals, undefined, quote)
  if (decimals === null || start === null || raised === null || threshold === null) {
    return { quote, decimals, price, feesInSol, curve: null }
  }
  const last = bigintIn(config.migrationSqrtPrice) ?? start
  const points = (Array.isArray(config.curve) ? config.curve : [])
    .map(fieldsIn)
    .map((point) => ({ sqrtPrice: bigintIn(point.sqrtPrice) ?? 0n, liquidity: bigintIn(point.liquidity) ?? 0n }))
    .filter(({ sqrtPrice, liquidity }) => sqrtPrice > 0n && liquidity > 0n)
  return {
    quote,
    decimals,
    price,
    feesInSol,
    curve: { shape: { start, points: pointsUntil(points, last), decimals, quote }, raised, threshold },
  }
}

export const RAW_UNITS: QuoteUnit = { decimals: 0, unit: 'raw units' }

/** The decimals and the quote in the raw state of a launch, which names the quote's mint; raw units if it does not. */
export function launchState(state: unknown): Pick<PoolState, 'decimals' | 'quote'> & { quote_mint?: string } {
  const { quoteMint } = fieldsIn(fieldsIn(state).config)
  if (typeof quoteMint !== 'string') return { decimals: null, quote: RAW_UNITS }
  const { decimals, quote } = poolState({ type: 'dbc', state, quote_mint: quoteMint })
  return { decimals, quote, quote_mint: quoteMint }
}

/** A share of 0 to 1 as a percentage, rounded down so that only a full curve shows 100. */
export const percentOf = (share: number): string => `${Math.floor(share * 10_000) / 100} %`

/**
 * The points of the curve up to the migration price. The account has room for more points than are in use, and the
 * curve may continue beyond that price.
 */
function pointsUntil(points: CurveShape['points'], last: bigint): CurveShape['points'] {
  const index = points.findIndex(({ sqrtPrice }) => sqrtPrice >= last)
  const beyond = points[index]
  return beyond === undefined ? points : [...points.slice(0, index), { ...beyond, sqrtPrice: last }]
}

const modeIn = (value: unknown, isInQuote: (mode: number) => boolean) =>
  typeof value === 'number' ? isInQuote(value) : null
const fieldsIn = (value: unknown): StateFields =>
  typeof value === 'object' && value !== null ? (value as StateFields) : {}
const bigintIn = (value: unknown): bigint | null =>
  typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null
