/** Reads the state of a pool: its price, how much was raised of its threshold, and its curve. */
import type { Pool } from '../../src/api/pools.ts'
import { type CurveShape, priceOf, type QuoteUnit, quoteUnitOf } from '../ui/curve.ts'

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
export function poolState(pool: Pick<Pool, 'type' | 'state'> & { quote_mint?: string }): PoolState {
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
export function launchState(state: Pool['state']): Pick<PoolState, 'decimals' | 'quote'> & { quote_mint?: string } {
  const { quoteMint } = fieldsIn(fieldsIn(state).config)
  if (typeof quoteMint !== 'string') return { decimals: null, quote: RAW_UNITS }
  const { decimals, quote } = poolState({ type: 'dbc', state, quote_mint: quoteMint })
  return { decimals, quote, quote_mint: quoteMint }
}

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

/** A share of 0 to 1 as a percentage, rounded down so that only a full curve shows 100. */
export const percentOf = (share: number): string => `${Math.floor(share * 10_000) / 100} %`
