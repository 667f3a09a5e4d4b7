/** What the state of a pool says to a person: its price, what was raised of how much, and its curve. */
import type { Pool } from '../../src/api/pools.ts'
import { type Curve, priceOf } from '../ui/curve.ts'

export interface PoolState {
  decimals: number | null
  /** SOL for one whole token; null where it cannot be told. */
  price: string | null
  /** Which side pays the trading fee: token and SOL by the side of the trade, or SOL alone. */
  feesInSol: boolean
  /** Of a launch curve alone. */
  curve: { shape: Curve; raised: bigint; threshold: bigint } | null
}

type Fields = Record<string, unknown>

/** The raw state is the programs' own: what is not as expected is left out. */
export function stateOf(pool: Pick<Pool, 'type' | 'state'>): PoolState {
  const state = fieldsOf(pool.state)
  if (pool.type === 'damm_v2') {
    return { decimals: null, price: null, feesInSol: Number(state.collectFeeMode) !== 0, curve: null }
  }
  const [held, config] = [fieldsOf(fieldsOf(state.pool).poolState), fieldsOf(state.config)]
  const decimals = typeof config.tokenDecimal === 'number' ? config.tokenDecimal : null
  const feesInSol = config.collectFeeMode === 0
  const [sqrtPrice, start] = [bigOf(held.sqrtPrice), bigOf(config.sqrtStartPrice)]
  const [raised, threshold] = [bigOf(held.quoteReserve), bigOf(config.migrationQuoteThreshold)]
  const price = sqrtPrice === null || decimals === null ? null : priceOf(sqrtPrice, decimals)
  if (decimals === null || start === null || raised === null || threshold === null) {
    return { decimals, price, feesInSol, curve: null }
  }
  const last = bigOf(config.migrationSqrtPrice) ?? start
  const points = (Array.isArray(config.curve) ? config.curve : [])
    .map(fieldsOf)
    .map((point) => ({ sqrtPrice: bigOf(point.sqrtPrice) ?? 0n, liquidity: bigOf(point.liquidity) ?? 0n }))
    .filter(({ sqrtPrice, liquidity }) => sqrtPrice > 0n && liquidity > 0n)
  return {
    decimals,
    price,
    feesInSol,
    curve: { shape: { start, points: until(points, last), decimals }, raised, threshold },
  }
}

/** The account has room for more points than are in use, and the curve may go on beyond the price where it migrates. */
function until(points: Curve['points'], last: bigint): Curve['points'] {
  const beyond = points.findIndex(({ sqrtPrice }) => sqrtPrice >= last)
  if (beyond < 0) return points
  return [...points.slice(0, beyond), { ...points[beyond]!, sqrtPrice: last }]
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const bigOf = (value: unknown): bigint | null =>
  typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : null

/** A share of 0 to 1 as text of a percentage, rounded down so that only a full curve shows 100. */
export const percentOf = (share: number): string => `${Math.floor(share * 10_000) / 100} %`
